// The C++ interface of Tulle: it compiles index notation for given formats and runs it on arrays
// that the caller owns. Start reading in program.h.
//
// The interface needs neither PyTorch nor Python. The caller provides memory and, if it wants,
// threads.
#pragma once

#include "tulle/derivative.h"
#include "tulle/dtype.h"
#include "tulle/error.h"
#include "tulle/program.h"
#include "tulle/resources.h"
#include "tulle/structure.h"
#include "tulle/tensor.h"
#include "tulle/version.h"
