// Unroll: the tag of a loop whose body is repeated.
#include "schedule/rewrites/unroll.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

Result<> check_whole(const Nest& nest, const std::string& var) {
  const auto extent = nest.known_extent(var);
  if (!extent) {
    return refusal(
        "The extent of '", var,
        "' is unknown at compile time, so the whole loop cannot be unrolled. Give a number of ",
        "copies, for example unroll(", var, ", 4), or split the loop and unroll the inner one.");
  }
  if (*extent > kMostCopies) {
    return refusal("The loop over '", var, "' runs ", *extent, " times, and at most ", kMostCopies,
                   " copies are made. Give a number of copies, for example unroll(", var, ", 4).");
  }
  if (const std::string tensor = sparse_tensor(nest, nest.root, var); !tensor.empty()) {
    return refusal(
        "'", tensor, "' holds only some coordinates of '", var,
        "', so the trip count is unknown at compile time. Give a number of copies, for example ",
        "unroll(", var, ", 4).");
  }
  return {};
}

}  // namespace

Result<Nest> unroll(const Nest& nest, const Unroll& step) {
  TULLE_TRY(require_loop(nest, step.loop));
  TULLE_TRY(require_untagged(nest, step.loop, "unroll"));
  if (step.copies == 0) TULLE_TRY(check_whole(nest, step.loop));
  const LoopTag tag{.kind = LoopTag::Kind::Unrolled, .factor = static_cast<int>(step.copies)};
  return with_tag(nest, tag, [&](const Forall& loop) { return loop.var == step.loop; });
}

}  // namespace tulle::schedule
