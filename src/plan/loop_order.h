// The choice of a loop order: which operands can be walked over as they are stored, how the result
// comes into being, cost.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"
#include "plan/loop_space.h"
#include "plan/plan.h"

namespace tulle::plan {

// How a result is built. Dense: stored where it belongs. Shared: values at the positions of one
// operand's entries. Append: entries arrive in order. Tracked: each innermost row is gathered in a
// tracked workspace first. Sort: entries arrive in any order and are sorted afterwards.
enum class Route : uint8_t { Dense, Shared, Append, Tracked, Sort };
std::string_view text_of(Route route);

// A statement with everything that choosing its loop order needs.
struct OrderProblem {
  const expr::Statement* statement = nullptr;
  const std::map<std::string, expr::TensorType>* tensors = nullptr;
  LoopSpace space;
  std::vector<std::string> outer;  // loop variables of the result and of the outermost sum
  std::vector<std::string> inner;  // of sums inside; they come last
  std::map<std::string, std::set<std::string>>
      before;                     // of inner ones: those of the sums around them
  std::set<std::string> reduced;  // loop variables of the outermost sum
  // Where workspaces are filled together: of inner variables the outer ones that the workspaces
  // with their sums depend on, and the variables that leads depend on.
  std::map<std::string, std::set<std::string>> used;
  std::set<std::string> leading;
  std::map<std::string, double> extents;          // of loop variables, known or guessed
  std::map<std::string, double> counts;           // of entries of operands, known or guessed
  std::map<std::string, double> distinct_shares;  // of operands' coordinates, where sampled
  std::set<std::string> shareable;                // operands whose structure a result may share
  bool may_convert = true;                        // false while planning a conversion
  int threads = 1;
};

struct OrderChoice {
  std::vector<std::string> order;
  std::set<int> converted;  // accesses (by id) whose operand is to be sorted into this order first
  Route route = Route::Dense;
  std::string shared;       // the operand of Route::Shared
  bool vectorized = false;  // the innermost loop runs over contiguous data
  double cost = 0;
};

OrderChoice choose_order(const OrderProblem& problem);

// What the loops in this order come to.
OrderChoice evaluate_order(const OrderProblem& problem, const std::vector<std::string>& order);

// How often the loop over a variable runs, on average, inside loops over these.
double estimate_trips(const OrderProblem& problem, const std::vector<std::string>& outside,
                      const std::string& var);

// Whether an access can be walked over in this order as it is stored.
bool is_native(const Format& format, const std::vector<std::string>& indices,
               const std::vector<std::string>& order, const LoopSpace& space);

}  // namespace tulle::plan
