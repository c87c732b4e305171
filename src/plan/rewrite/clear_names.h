// Renames tensors whose names collide with those that stages generate.
#pragma once

#include <map>
#include <set>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// Stages derive names from tensors and indices: A_pos1, C_acc, n_i, io. Returns the tensors of the
// program with such names, each with its new name inside the compiler.
using TensorNames = std::map<std::string, std::string>;
TensorNames clear_names(const expr::ParsedProgram& program);

// Renames these tensors in the program. Messages keep the names from the user.
expr::ParsedProgram with_names(const expr::ParsedProgram& program, const TensorNames& names);

// Whether a stage may generate the name for a tensor.
bool is_name_of_stages(const std::string& name, const std::set<std::string>& tensors,
                       const std::set<std::string>& indices);
// Whether a stage may generate the name for a loop or for an index that has the extent of one of
// these.
bool is_index_of_stages(const std::string& name, const std::set<std::string>& tensors,
                        const std::set<std::string>& indices);

}  // namespace tulle::plan
