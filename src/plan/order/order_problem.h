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

// A statement with the data for the search of its loop order.
struct OrderProblem {
  const expr::Statement* statement = nullptr;
  const std::map<std::string, expr::TensorType>* tensors = nullptr;
  LoopSpace space;
  std::vector<std::string> outer;  // loop variables of the result and of the outermost sum
  std::vector<std::string> inner;  // of nested sums; they come last
  std::map<std::string, std::set<std::string>>
      before;                     // for each inner variable: the variables of the sums around it
  std::set<std::string> reduced;  // loop variables of the outermost sum
  // For workspaces filled together. `used`: for each inner variable, the outer variables that its
  // workspace and its sums depend on. `leading`: the variables that leads depend on.
  std::map<std::string, std::set<std::string>> used;
  std::set<std::string> leading;
  std::map<std::string, double> extents;          // of loop variables, known or guessed
  std::map<std::string, double> counts;           // entries of operands, known or guessed
  std::map<std::string, double> distinct_shares;  // of the operands' coordinates, if sampled
  std::map<std::string, int64_t> longest_rows;    // entries, if known
  std::set<std::string> shareable;                // operands whose pattern a result may share
  bool may_convert = true;                        // false if this is itself a conversion
  bool keeps_storage = false;                     // converts only as a last resort
  int threads = 1;
  // On a GPU, threads compute the values of a block together, and a scan over several times as many
  // coordinates costs less than sorting.
  Backend backend = Backend::Cpu;
  bool may_scatter = false;  // iterations of a summed loop may add by atomics
  bool is_part = false;      // of a sum to which other statements also add
};

// Sets variables, extents, counts and the constraints on nesting. The caller sets the fields about
// conversions and shared patterns. The result points to `statement` and `tensors`.
OrderProblem make_order_problem(const expr::Statement& statement,
                                const std::map<std::string, expr::TensorType>& tensors,
                                Estimates& estimates, Division division = Division::AsStored);

// Estimates the extents of the indices and the counts of the operands.
void estimate_sizes(OrderProblem& problem, Estimates& estimates);

// Estimates the counts of the statement's operands again, after operands were replaced.
void count_operands(OrderProblem& problem, Estimates& estimates);

}  // namespace tulle::plan
