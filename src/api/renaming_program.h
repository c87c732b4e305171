// Names that users give and stages need for themselves: other names inside a program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/rewrite/clear_names.h"
#include "tulle/tulle.h"

namespace tulle {

// Every word of the text that is a name as written, by its other name.
std::string with_names(const std::string& text, const plan::TensorNames& names);
std::vector<TensorSpec> with_names(const std::vector<TensorSpec>& given,
                                   const plan::TensorNames& names);
ProgramOptions with_names(const ProgramOptions& given, const plan::TensorNames& names);

// The program, which was made of operands, options and statements under their other names, as its
// caller sees it; itself where no name is another.
std::shared_ptr<const Program> renaming_program(const std::vector<TensorSpec>& operands,
                                                const plan::TensorNames& names,
                                                std::shared_ptr<const Program> inside);

}  // namespace tulle
