// The C++ interface of Tulle: compile index notation for given formats, run it on arrays that the
// caller owns. program.h is where to start.
//
// No PyTorch and no Python here. Memory and threads come from the caller; defaults are provided.
#pragma once

#include "tulle/dtype.h"
#include "tulle/error.h"
#include "tulle/program.h"
#include "tulle/resources.h"
#include "tulle/structure.h"
#include "tulle/tensor.h"
#include "tulle/version.h"
