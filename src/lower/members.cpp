// Distributes the coordinates of member variables over threads.
#include "lower/members.h"

#include "nest/bound_loops.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

int64_t members_of_chunk(const KernelContext& kernel) {
  int64_t count = 1;
  if (kernel.phase != Phase::Fill || !kernel.request.shares_values) return count;
  for (const std::string& var : nest::member_variables(kernel.nest))
    count *= kernel.nest.known_extent(var).value_or(1);
  return count;
}

Expr first_of_member(const KernelContext& kernel, const KernelFrame& frame,
                     const std::string& var) {
  Expr rest = frame.member();
  int64_t inside = 1;
  const std::vector<std::string> variables = nest::member_variables(kernel.nest);
  for (auto inner = variables.rbegin(); *inner != var; ++inner)
    inside *= kernel.nest.known_extent(*inner).value_or(1);
  if (inside > 1 && !mutant("members-mixed"))
    rest = Binary::make(BinaryOp::Div, rest, IntConst::make(inside));
  if (variables.front() == var) return rest;
  return Binary::make(BinaryOp::Mod, rest,
                      IntConst::make(kernel.nest.known_extent(var).value_or(1)));
}

}  // namespace tulle::lower
