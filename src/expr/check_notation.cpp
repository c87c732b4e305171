// Checks of statements.
#include "expr/check_notation.h"

#include <algorithm>

#include "expr/implicit_sums.h"
#include "expr/print.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

// `known` maps each tensor in an earlier statement to its number of indices.
void check_ranks(const Statement& statement, std::map<std::string, size_t>& known) {
  for (const Access* access : accesses(statement.value)) {
    const size_t before = known.try_emplace(access->tensor, access->indices.size()).first->second;
    if (before == access->indices.size()) continue;
    fail_in(statement, access,
            concat(called(*access), " has ", access->indices.size(),
                   access->indices.size() == 1 ? " index" : " indices", " here and ", before,
                   " before; give one for each dimension"));
  }
  known.try_emplace(statement.tensor, statement.indices.size());
}

// Checks that the indices of index(j) and extent(j) are used in a subscript.
void check_index_values(const Statement& statement, const Expr& expr) {
  for (const Expr& child : children(expr)) check_index_values(statement, child);
  const auto* value = expr.as<IndexValue>();
  if (!value) return;
  const std::vector<const Access*> read = accesses(statement.value);
  const bool is_read = std::any_of(read.begin(), read.end(), [&](const Access* access) {
    return std::find(access->indices.begin(), access->indices.end(), value->index) !=
           access->indices.end();
  });
  if (is_read) return;
  fail_in(statement, value,
          concat("the index '", value->index, "' is in no subscript of this statement, so its ",
                 "extent is unknown; use it in a subscript"));
}

}  // namespace

void check_left_side(const Statement& statement) {
  check_index_values(statement, statement.value);
  const std::vector<const Access*> read = accesses(statement.value);
  for (size_t at = 0; at < statement.indices.size(); ++at) {
    const std::string& index = statement.indices[at];
    const bool is_read = std::any_of(read.begin(), read.end(), [&](const Access* access) {
      return std::find(access->indices.begin(), access->indices.end(), index) !=
             access->indices.end();
    });
    if (is_read) continue;
    fail_at_index(statement, nullptr, at,
                  concat("the index '", index, "' is on the left only, so its extent is unknown; ",
                         "use it on the right or remove it"));
  }
}

void check_notation(const ParsedProgram& program) {
  std::map<std::string, size_t> known;
  for (const Statement& statement : program.statements) {
    check_ranks(statement, known);
    insert_sums(statement);
    check_left_side(statement);
  }
}

}  // namespace tulle::expr
