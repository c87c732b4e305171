// Chooses the loops of a statement and their order.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "plan/decisions.h"
#include "plan/order/loop_order.h"
#include "plan/request.h"

namespace tulle::plan {

struct ChosenLoops {
  OrderProblem problem;
  OrderChoice choice;
  int tried = 0;  // the number of orders and partial orders compared
};

// Chooses the loops of the statements in one program. Keeps references to its arguments.
class LoopChooser {
 public:
  LoopChooser(const Request& request, const std::map<std::string, expr::TensorType>& tensors,
              Estimates& estimates)
      : request_(request), tensors_(tensors), estimates_(estimates) {}

  struct Freedom {
    bool may_share = false;    // the pattern of an operand
    bool may_convert = false;  // operands
    // by a caller, with loop names that depend on the storage of the operands
    bool is_scheduled = false;
  };
  // Chooses the cheapest loops, including the cost of conversions: loops divided as the operands
  // are stored, or as one operand with blocks is stored, or one loop for each index. A caller's
  // schedule refers to the loops of the operands as stored, so then the order depends on the
  // formats alone. The result points to the statement.
  ChosenLoops choose(const expr::Statement& statement, const Freedom& freedom,
                     const std::optional<Decision>& decision) const;

 private:
  OrderProblem make_problem(const expr::Statement& statement, const Freedom& freedom,
                            Division division) const;
  bool may_scatter(const expr::Statement& statement) const;
  bool has_divided_operands(const expr::Statement& statement) const;
  bool is_part(const expr::Statement& statement) const;

  const Request& request_;
  const std::map<std::string, expr::TensorType>& tensors_;
  Estimates& estimates_;
};

}  // namespace tulle::plan
