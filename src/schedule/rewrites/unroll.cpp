// Unroll: the tag of a loop whose body is repeated.
#include "schedule/rewrites/unroll.h"

#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

void check_whole(const Nest& nest, const std::string& var) {
  const auto extent = nest.known_extent(var);
  if (!extent) {
    user_error("The extent of '", var,
               "' is not known when compiling, so it cannot be unrolled whole; give the number of ",
               "copies, unroll(", var, ", 4) say, or split it and unroll the inner loop.");
  }
  if (*extent > kMostCopies) {
    user_error("The loop over '", var, "' runs ", *extent, " times, and at most ", kMostCopies,
               " copies are made; give the number of copies, unroll(", var, ", 4) say.");
  }
  if (const std::string tensor = sparse_tensor(nest, nest.root, var); !tensor.empty()) {
    user_error(
        "'", tensor, "' holds only some coordinates of '", var,
        "', so that it is not known how often the loop runs; give the number of copies, unroll(",
        var, ", 4) say.");
  }
}

}  // namespace

Nest unroll(const Nest& nest, const std::string& var, int64_t copies) {
  require_loop(nest, var);
  require_untagged(nest, var, "unroll");
  if (copies == 0) check_whole(nest, var);
  const LoopTag tag{.kind = LoopTag::Kind::Unrolled, .factor = static_cast<int>(copies)};
  return with_tag(nest, tag, [&](const Forall& loop) { return loop.var == var; });
}

}  // namespace tulle::schedule
