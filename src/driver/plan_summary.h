// A plan in a few lines, for explain.
#pragma once

#include <string>

#include "driver/compile.h"

namespace tulle {

// The machine, the loops and threads of each nest, conversions, the size of the operands and the
// estimated time.
std::string plan_summary(const CompileRequest& request);

}  // namespace tulle
