// Programs with limits of their own; for tests.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "driver/limits.h"
#include "tulle/program.h"

namespace tulle {

// Program::from_notation under these limits.
std::shared_ptr<const Program> limited_program(std::string_view text,
                                               const std::vector<TensorSpec>& operands,
                                               const ProgramOptions& options,
                                               const CompileLimits& limits);

}  // namespace tulle
