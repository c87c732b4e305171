// Vectorize: the tag of an innermost loop over a variable that counts without a search.
#include "schedule/rewrites/vectorize.h"

#include "nest/bound_loops.h"
#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// Whether the statement consists of assignments alone.
bool is_straight(const Stmt& stmt) {
  if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) {
      if (!is_straight(part)) return false;
    }
    return true;
  }
  return stmt.as<Assign>() != nullptr;
}

// Why the loop cannot be vectorised; empty if it can.
std::string obstacle(const Nest& nest, const Forall& loop) {
  if (!is_straight(loop.body)) {
    return concat("The loop over '", loop.var,
                  "' is not innermost; bring it in with reorder first.");
  }
  if (const std::string tensor = sparse_tensor(nest, loop.body, loop.var); !tensor.empty()) {
    return concat("'", tensor, "' holds only some coordinates of '", loop.var,
                  "', so that lanes would not be next to each other; vectorise a loop over an "
                  "index that is stored densely.");
  }
  if (nest::adds_up_parts(loop, nest)) {
    return concat("The loop over '", loop.var, "' adds up partial sums, one after the other.");
  }
  return {};
}

}  // namespace

Result<Nest> vectorize(const Nest& nest, const Vectorize& step, Remarks* remarks) {
  const std::string& var = step.loop;
  TULLE_TRY(require_loop(nest, var));
  TULLE_TRY(require_untagged(nest, var, "vectorize"));
  bool found = false;
  std::string reason;
  for_each_loop(nest.root, [&](const Forall& loop) {
    if (loop.var != var) return;
    const std::string why = obstacle(nest, loop);
    if (why.empty()) found = true;
    if (reason.empty()) reason = why;
  });
  if (!found) return Refusal{reason};
  if (!reason.empty())
    remark(remarks, "One of the loops over '", var, "' stays as it is. ", reason);

  const LoopTag tag{.kind = LoopTag::Kind::Vector, .factor = static_cast<int>(step.lanes)};
  const Nest vectorized = with_tag(nest, tag, [&](const Forall& loop) {
    return loop.var == var && obstacle(nest, loop).empty();
  });
  // A fully unrolled loop adds up the elements of a vector in registers.
  if (nest.known_extent(var).value_or(step.lanes + 1) > step.lanes) return vectorized;
  return with_tag(vectorized, {.kind = LoopTag::Kind::Unrolled}, [&](const Forall& loop) {
    return loop.var == var && nest::adds_up_parts(loop, nest);
  });
}

}  // namespace tulle::schedule
