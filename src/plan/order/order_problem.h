// The input of the search for a loop order.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/program.h"
#include "plan/order/estimates.h"
#include "plan/order/loop_space.h"

namespace tulle::plan {

// A statement with everything that the search for its loop order needs.
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
  std::map<std::string, int64_t> longest_rows;    // entries, of operands of which that is known
  std::set<std::string> shareable;                // operands whose structure a result may share
  bool may_convert = true;                        // false while planning a conversion
  bool keeps_storage = false;                     // converts only where there is no other way
  int threads = 1;
  // On a GPU threads compute the values of a block together, and sorting costs more than a look at
  // a few times as many.
  Backend backend = Backend::Cpu;
  bool may_scatter = false;  // whether iterations of a summed loop may add up by atomics
  bool is_part = false;      // of a sum to which other statements add, too
};

// Fills in variables, extents, counts and the constraints on nesting. The caller fills in the
// fields about conversions and shared patterns. The result points to `statement` and `tensors`.
OrderProblem make_order_problem(const expr::Statement& statement,
                                const std::map<std::string, expr::TensorType>& tensors,
                                Estimates& estimates, Division division = Division::AsStored);

// The extents of its indices and the counts of its operands, by these estimates.
void estimate_sizes(OrderProblem& problem, Estimates& estimates);

// The counts of the statement's operands, which may be others than when the problem was made.
void count_operands(OrderProblem& problem, Estimates& estimates);

}  // namespace tulle::plan
