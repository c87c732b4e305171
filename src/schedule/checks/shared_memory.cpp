// Adds up the shared memory of a block.
#include "schedule/checks/shared_memory.h"

#include <algorithm>

#include "nest/bound_loops.h"
#include "nest/staging.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/gpu_limits.h"

namespace tulle::schedule {

namespace {

using Kind = LoopTag::Kind;

class SharedMemory {
 public:
  explicit SharedMemory(const Nest& nest) : nest_(nest) {}

  Result<> verify() {
    TULLE_TRY(walk(nest_.root));
    if (bytes_ <= nest::kLargestShared) return {};
    return refusal("Copies and tuples take ", bytes_, " bytes of each block's shared memory, but ",
                   nest::kLargestShared, " is the limit; split their loops first.");
  }

 private:
  Result<> walk(const Stmt& stmt) {
    if (const auto* loop = stmt.as<Forall>()) {
      const bool merges = nest::combines(*loop, nest_) && nest::merges_tuples(*loop, nest_);
      if (merges && loop->tag.kind != Kind::Lane) add_tuples(*loop);
      around_.push_back(loop);
      TULLE_TRY(walk(loop->body));
      around_.pop_back();
    } else if (const auto* where = stmt.as<Where>()) {
      const std::string& name = where->workspaces.front();
      if (nest_.tensor(name).staging == Tensor::Staging::Shared) TULLE_TRY(add_copy(*where, name));
      TULLE_TRY(walk(where->producer));
      TULLE_TRY(walk(where->consumer));
    } else if (const auto* sequence = stmt.as<Sequence>()) {
      for (const Stmt& part : sequence->stmts) TULLE_TRY(walk(part));
    }
    return {};
  }

  // All threads of a block or a warp must reach the copy together, because they fill it together.
  Result<> add_copy(const Where& where, const std::string& name) {
    int64_t copies = 1;
    for (const Forall* around : around_) {
      if (around->tag.kind == Kind::Warp) copies = nest::warps_of_block(nest_);
      if (around->tag.kind != Kind::Lane && around->tag.kind != Kind::Thread) continue;
      return refusal("'", name,
                     "' is in shared memory, which several threads fill together, and it ",
                     "is inside the loop over '", around->var, "', where each ",
                     nest::bound_name(around->tag.kind),
                     " runs separately; stage in a loop outside ", "of that one, or in registers.");
    }
    const Tensor& tensor = nest_.tensor(name);
    int64_t elements = copies * tensor.depth;
    for (const std::string& index : assigns(where.producer).front()->indices)
      elements *= std::max<int64_t>(1, nest_.known_extent(index).value_or(1));
    bytes_ += elements * static_cast<int64_t>(size_of(tensor.type.type));
    return {};
  }

  // Warps and threads merge tuples through shared memory, with one element per lane.
  void add_tuples(const Forall& loop) {
    for (const Assign* assign : assigns(loop.body)) {
      const auto* part = assign->value.as<expr::Access>();
      int64_t elements = 1;
      for (const std::string& index : part->indices) {
        const Forall* inner = nest::find_loop(nest_.root, index);
        const bool spread = index != loop.var && inner && inner->tag.is_within_block();
        if (!spread) elements *= std::max<int64_t>(1, nest_.known_extent(index).value_or(1));
      }
      const int64_t lanes = loop.tag.kind == Kind::Warp ? kWarpSize : 1;
      bytes_ += (elements + 1) * lanes *
                static_cast<int64_t>(size_of(nest_.tensor(part->tensor).type.type));
    }
  }

  const Nest& nest_;
  std::vector<const Forall*> around_;
  int64_t bytes_ = 0;
};

}  // namespace

Result<> require_shared_memory(const Nest& nest) { return SharedMemory(nest).verify(); }

}  // namespace tulle::schedule
