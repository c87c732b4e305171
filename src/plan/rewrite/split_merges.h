// Splits statements that read many sparse operands.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/program.h"

namespace tulle::plan {

// A merge of n operands has up to 2^n cases. While the statement reads more than four sparse
// operands, this moves a part of its value into a statement before it. The part reads two to four
// sparse operands and is absent where they have no entries. `name` names the intermediate and
// records its type.
struct SplitStatement {
  std::vector<expr::Statement> before;
  expr::Statement statement;
};
SplitStatement split_merges(const expr::Statement& statement,
                            const std::function<bool(const std::string& tensor)>& is_sparse,
                            const std::function<std::string(const expr::Statement&)>& name);

}  // namespace tulle::plan
