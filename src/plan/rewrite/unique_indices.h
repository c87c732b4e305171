// Gives every index name one extent throughout a program.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

struct UniqueProgram {
  expr::ResolvedProgram program;                                // its indices renamed
  std::map<std::string, std::vector<expr::ExtentUse>> extents;  // of every index of the program
  // For each statement the indices that have another name now, by the name that was written.
  std::vector<std::map<std::string, std::string>> renamed;
  std::set<std::string> merged = {};    // composite operands whose parts are put together
  std::vector<std::string> notes = {};  // of rewrites of the program, one line each, for explain
};

// An index belongs to its statement. If a later statement uses the same name for other dimensions,
// the index is renamed there: j.1.
UniqueProgram with_unique_indices(const expr::ResolvedProgram& program);

// The expression with these indices under other names.
using Renames = std::map<std::string, std::string>;
expr::Expr renamed_indices(const expr::Expr& expr, const Renames& renames);

}  // namespace tulle::plan
