// Renames tensors whose names collide with names that stages need.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/rewrite/clear_names.h"
#include "tulle/tulle.h"

namespace tulle {

// Replaces every name in the text by its other name.
std::string with_names(const std::string& text, const plan::TensorNames& names);
std::vector<TensorSpec> with_names(const std::vector<TensorSpec>& given,
                                   const plan::TensorNames& names);
ProgramOptions with_names(const ProgramOptions& given, const plan::TensorNames& names);

// The program with its original names; `inside` was made from operands, options and statements
// under other names. Returns `inside` if no name differs.
std::shared_ptr<const Program> renaming_program(const std::vector<TensorSpec>& operands,
                                                const plan::TensorNames& names,
                                                std::shared_ptr<const Program> inside);

}  // namespace tulle
