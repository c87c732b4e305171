// Parses programs as callers give them.
#pragma once

#include <string_view>
#include <vector>

#include "expr/program.h"
#include "tulle/program.h"

namespace tulle {

// The statement of an einsum over these operands; the result is called `out`.
expr::ParsedProgram parsed_einsum(std::string_view equation,
                                  const std::vector<TensorSpec>& operands,
                                  const ProgramOptions& options);

}  // namespace tulle
