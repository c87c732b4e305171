// The loops of a statement: what they run over, and in which order.
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
  int tried = 0;  // orders and beginnings of orders, of all that was compared
};

// Chooses for the statements of one program. Keeps references to what it is given.
class LoopChooser {
 public:
  LoopChooser(const Request& request, const std::map<std::string, expr::TensorType>& tensors,
              Estimates& estimates)
      : request_(request), tensors_(tensors), estimates_(estimates) {}

  struct Freedom {
    bool may_share = false;     // the pattern of an operand
    bool may_convert = false;   // operands
    bool is_scheduled = false;  // by a caller, in the names of the loops as operands are stored
  };
  // Chooses the cheapest loops, the cost of conversions included: loops divided as the operands are
  // stored, or as one operand with blocks is stored, or one loop for each index. A schedule that a
  // caller wrote refers to the loops of the operands as they are stored, in an order that follows
  // from the formats alone. The result points to the statement.
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
