// Counts the iterations of bound loops and recognises loops that combine.
#include "nest/bound_loops.h"

#include <algorithm>
#include <functional>

#include "support/gpu_limits.h"

namespace tulle::nest {

namespace {

void add_members(const Stmt& stmt, std::vector<std::string>& found) {
  if (const auto* forall = stmt.as<Forall>()) {
    const bool is_new = std::find(found.begin(), found.end(), forall->var) == found.end();
    if (forall->tag.kind == LoopTag::Kind::Member && is_new) found.push_back(forall->var);
    add_members(forall->body, found);
  } else if (const auto* where = stmt.as<Where>()) {
    add_members(where->consumer, found);
    add_members(where->producer, found);
  } else if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) add_members(part, found);
  }
}

bool any_loop(const Stmt& stmt, const std::function<bool(const Forall&)>& is_it) {
  if (const auto* forall = stmt.as<Forall>())
    return is_it(*forall) || any_loop(forall->body, is_it);
  if (const auto* where = stmt.as<Where>())
    return any_loop(where->consumer, is_it) || any_loop(where->producer, is_it);
  const auto* sequence = stmt.as<Sequence>();
  return sequence && std::any_of(sequence->stmts.begin(), sequence->stmts.end(),
                                 [&](const Stmt& part) { return any_loop(part, is_it); });
}

}  // namespace

std::vector<std::string> member_variables(const Nest& nest) {
  std::vector<std::string> found;
  add_members(nest.root, found);
  return found;
}

bool adds_up_by_atomics(const Nest& nest) {
  return any_loop(nest.root, [](const Forall& loop) { return loop.tag.by_atomics; });
}

int64_t lanes_of(const Nest& nest, const Stmt& stmt) {
  if (const auto* forall = stmt.as<Forall>()) {
    const bool lanes = forall->tag.kind == LoopTag::Kind::Lane;
    const int64_t own = lanes ? nest.known_extent(forall->var).value_or(1) : 1;
    return own * lanes_of(nest, forall->body);
  }
  if (const auto* where = stmt.as<Where>())
    return std::max(lanes_of(nest, where->consumer), lanes_of(nest, where->producer));
  int64_t most = 1;
  if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) most = std::max(most, lanes_of(nest, part));
  }
  return most;
}

int64_t lanes_inside(const Nest& nest, const std::string& var) {
  int64_t most = 1;
  const std::function<void(const Stmt&)> visit = [&](const Stmt& stmt) {
    if (const auto* forall = stmt.as<Forall>()) {
      if (forall->var == var) most = std::max(most, lanes_of(nest, forall->body));
      visit(forall->body);
    } else if (const auto* where = stmt.as<Where>()) {
      visit(where->consumer);
      visit(where->producer);
    } else if (const auto* sequence = stmt.as<Sequence>()) {
      for (const Stmt& part : sequence->stmts) visit(part);
    }
  };
  visit(nest.root);
  return most;
}

namespace {

// The largest iteration count of a loop bound to this part in the statement; 0 without such a loop.
int64_t most_bound(const Nest& nest, const Stmt& stmt, LoopTag::Kind kind) {
  if (const auto* forall = stmt.as<Forall>()) {
    const bool counts = forall->tag.kind == kind;
    const int64_t own = counts ? nest.known_extent(forall->var).value_or(1) : 0;
    return std::max(own, most_bound(nest, forall->body, kind));
  }
  if (const auto* where = stmt.as<Where>()) {
    return std::max(most_bound(nest, where->consumer, kind),
                    most_bound(nest, where->producer, kind));
  }
  int64_t most = 0;
  if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) most = std::max(most, most_bound(nest, part, kind));
  }
  return most;
}

}  // namespace

int64_t warps_of_block(const Nest& nest) {
  return std::max<int64_t>(1, most_bound(nest, nest.root, LoopTag::Kind::Warp));
}

int64_t threads_of_block(const Nest& nest) {
  const bool has_lanes = most_bound(nest, nest.root, LoopTag::Kind::Lane) > 0;
  return std::max({int64_t{1}, int64_t{has_lanes ? kWarpSize : 1},
                   kWarpSize * most_bound(nest, nest.root, LoopTag::Kind::Warp),
                   most_bound(nest, nest.root, LoopTag::Kind::Thread)});
}

bool combines(const Forall& loop, const Nest& nest) {
  return loop.tag.is_within_block() && (adds_up_parts(loop, nest) || merges_tuples(loop, nest));
}

bool combines_within(const Stmt& stmt, const Nest& nest) {
  return any_loop(stmt, [&](const Forall& loop) { return combines(loop, nest); });
}

namespace {

// Whether the assignment accumulates an element of a workspace with this index into a target
// without it. A copy of an operand has no sums.
bool adds_part(const Assign* assign, const std::string& var, const Nest& nest) {
  const auto* access = assign ? assign->value.as<expr::Access>() : nullptr;
  if (!access || !assign->accumulate) return false;
  const auto& own = access->indices;
  const Tensor& tensor = nest.tensor(access->tensor);
  return tensor.role == Tensor::Role::Workspace && tensor.staging == Tensor::Staging::None &&
         std::find(own.begin(), own.end(), var) != own.end() && !covers(assign->indices, nest, var);
}

}  // namespace

bool adds_up_parts(const Forall& loop, const Nest& nest) {
  return adds_part(loop.body.as<Assign>(), loop.var, nest);
}

bool merges_tuples(const Forall& loop, const Nest& nest) {
  const auto* sequence = loop.body.as<Sequence>();
  if (!sequence && !loop.body.as<Forall>()) return false;
  const std::vector<Stmt> parts = sequence ? sequence->stmts : std::vector<Stmt>{loop.body};
  return std::all_of(parts.begin(), parts.end(), [&](const Stmt& part) {
    Stmt inner = part;
    while (const auto* forall = inner.as<Forall>()) inner = forall->body;
    return adds_part(inner.as<Assign>(), loop.var, nest);
  });
}

bool has_bound_loops(const Stmt& stmt) {
  return any_loop(stmt, [](const Forall& loop) { return loop.tag.is_bound(); });
}

}  // namespace tulle::nest
