// Renames tensors whose names collide with those that stages generate.
#pragma once

#include <map>
#include <set>
#include <string>

#include "expr/program.h"

namespace tulle::plan {

// Stages derive names from tensors and indices: A_pos1, C_acc, n_i, io. Returns the tensors of the
// program with such names, each with the name that it gets inside the compiler.
using TensorNames = std::map<std::string, std::string>;
TensorNames clear_names(const expr::ParsedProgram& program);

// The program with these tensors under their other names; messages call them as written.
expr::ParsedProgram with_names(const expr::ParsedProgram& program, const TensorNames& names);

// Whether stages may give the name to a tensor, or to something that belongs to one of these.
bool is_name_of_stages(const std::string& name, const std::set<std::string>& tensors,
                       const std::set<std::string>& indices);
// The same for a loop over, or an index of the extent of, one of these.
bool is_index_of_stages(const std::string& name, const std::set<std::string>& tensors,
                        const std::set<std::string>& indices);

}  // namespace tulle::plan
