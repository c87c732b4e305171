// Gives every index name one extent in the whole program.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

struct UniqueProgram {
  expr::ResolvedProgram program;                                // with renamed indices
  std::map<std::string, std::vector<expr::ExtentUse>> extents;  // of every index in the program
  // For each statement: the index name in the source -> the new name, for renamed indices.
  std::vector<std::map<std::string, std::string>> renamed;
  std::set<std::string> merged = {};    // composite operands whose parts are merged
  std::vector<std::string> notes = {};  // about rewrites of the program, one line each, for explain
};

// An index belongs to its statement. Renames it, to j.1 in statement 1, if an earlier statement
// uses the same name for other dimensions.
UniqueProgram with_unique_indices(const expr::ResolvedProgram& program);

}  // namespace tulle::plan
