// Statements that read many sparse operands, cut into statements that read few.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

// A merge of n operands has up to 2^n cases. While the statement reads more than four sparse
// operands, a part of its value that reads two to four of them, and is nothing where they have no
// entries, becomes a statement of its own before it. `name` gives the intermediate a name and
// learns its type.
struct SplitStatement {
  std::vector<expr::Statement> before;
  expr::Statement statement;
};
SplitStatement split_merges(const expr::Statement& statement,
                            const std::function<bool(const std::string& tensor)>& is_sparse,
                            const std::function<std::string(const expr::Statement&)>& name);

}  // namespace tulle::plan
