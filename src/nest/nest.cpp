// Construction and queries of nests.
#include "nest/nest.h"

#include <algorithm>
#include <set>
#include <utility>

#include "support/check.h"

namespace tulle::nest {

namespace {

constexpr std::pair<LoopTag::Kind, std::string_view> kBoundNames[] = {
    {LoopTag::Kind::Member, "member"},
    {LoopTag::Kind::Block, "block"},
    {LoopTag::Kind::Warp, "warp"},
    {LoopTag::Kind::Lane, "lane"},
    {LoopTag::Kind::Thread, "thread"}};

}  // namespace

std::string_view bound_name(LoopTag::Kind kind) {
  for (const auto& [bound, name] : kBoundNames) {
    if (bound == kind) return name;
  }
  internal_error("a loop that is bound to no part of a GPU");
}

std::optional<LoopTag::Kind> bound_kind(std::string_view word) {
  for (const auto& [bound, name] : kBoundNames) {
    if (name == word) return bound;
  }
  return std::nullopt;
}

Stmt Forall::make(std::string var, Stmt body, LoopTag tag) {
  TULLE_CHECK(!var.empty() && body);
  return std::make_shared<const Forall>(std::move(var), tag, std::move(body));
}

Stmt Where::make(std::vector<std::string> workspaces, Stmt consumer, Stmt producer) {
  TULLE_CHECK(!workspaces.empty() && consumer && producer);
  return std::make_shared<const Where>(std::move(workspaces), std::move(consumer),
                                       std::move(producer));
}

Stmt Where::make(std::string workspace, Stmt consumer, Stmt producer) {
  return make(std::vector<std::string>{std::move(workspace)}, std::move(consumer),
              std::move(producer));
}

Stmt Sequence::make(std::vector<Stmt> stmts) {
  return std::make_shared<const Sequence>(std::move(stmts));
}

Stmt Assign::make(std::string tensor, std::vector<std::string> indices, Accumulate accumulate,
                  expr::Expr value) {
  TULLE_CHECK(value);
  return std::make_shared<const Assign>(std::move(tensor), std::move(indices), accumulate,
                                        std::move(value));
}

const Tensor& Nest::tensor(const std::string& name) const {
  const auto found = tensors.find(name);
  TULLE_CHECK(found != tensors.end(), "tensor ", name, " in the nest");
  return found->second;
}

const Variable& Nest::variable(const std::string& name) const {
  const auto found = variables.find(name);
  TULLE_CHECK(found != variables.end(), "variable ", name, " in the nest");
  return found->second;
}

std::optional<int64_t> Nest::known_extent(const std::string& var) const {
  const Variable& v = variable(var);
  switch (v.origin) {
    case Variable::Origin::Source: {
      const auto found = known_extents.find(var);
      return found == known_extents.end() ? std::nullopt : std::optional(found->second);
    }
    case Variable::Origin::Inner:
    case Variable::Origin::InnerPosition:
    case Variable::Origin::Entry:
      return v.factor;
    case Variable::Origin::Chunk:
      return v.parts > 0 ? std::optional(v.parts) : std::nullopt;
    case Variable::Origin::OuterPosition:
    case Variable::Origin::Stored:
    case Variable::Origin::EntryChunk:
      return std::nullopt;
    case Variable::Origin::ChunkRow:
      return known_extent(v.parent);
    case Variable::Origin::Outer: {
      const auto parent = known_extent(v.parent);
      return parent ? std::optional((*parent + v.factor - 1) / v.factor) : std::nullopt;
    }
    case Variable::Origin::Fused: {
      const auto first = known_extent(v.parent);
      const auto second = known_extent(v.second);
      return first && second ? std::optional(*first * *second) : std::nullopt;
    }
    case Variable::Origin::Difference: {
      const auto first = known_extent(v.parent);
      const auto second = known_extent(v.second);
      return first && second ? std::optional(*first + *second - 1) : std::nullopt;
    }
  }
  return std::nullopt;
}

bool Nest::leads(const std::string& workspace) const {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const auto& entry) { return entry.second.lead == workspace; });
}

std::vector<std::string> Nest::sources(const std::string& var) const {
  const Variable& v = variable(var);
  if (v.origin == Variable::Origin::Source) return {var};
  std::vector<std::string> found = sources(v.parent);
  if (v.is_of_two()) {
    const std::vector<std::string> more = sources(v.second);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

bool Nest::derives_from(const std::string& var, const std::string& ancestor) const {
  if (var == ancestor) return true;
  const Variable& v = variable(var);
  if (v.origin == Variable::Origin::Source) return false;
  const bool binds_second = v.origin == Variable::Origin::Fused || v.is_of_entries();
  return derives_from(v.parent, ancestor) || (binds_second && derives_from(v.second, ancestor));
}

bool Nest::determines(const std::vector<std::string>& loops, const std::string& var) const {
  if (std::find(loops.begin(), loops.end(), var) != loops.end()) return true;
  using Origin = Variable::Origin;
  std::set<std::pair<bool, int64_t>> quotients, remainders;  // (whether of positions, factor)
  for (const auto& [child, variable] : variables) {
    const bool binds_both = variable.origin == Origin::Fused || variable.origin == Origin::Entry;
    const bool second = binds_both && variable.second == var;
    if (variable.origin == Origin::Source || (variable.parent != var && !second)) continue;
    if (!determines(loops, child)) continue;
    if (binds_both || variable.origin == Origin::ChunkRow || variable.origin == Origin::Stored)
      return true;
    if (variable.is_of_chunks()) continue;
    if (variable.origin == Origin::Difference) {
      if (determines(loops, variable.second)) return true;
      continue;
    }
    const bool outer = variable.origin == Origin::Outer || variable.origin == Origin::OuterPosition;
    (outer ? quotients : remainders).insert({variable.is_position(), variable.factor});
  }
  return std::any_of(quotients.begin(), quotients.end(),
                     [&](const auto& factor) { return remainders.contains(factor); });
}

std::string_view text_of(Monoid monoid) {
  constexpr std::string_view names[] = {
#define X(name, text) text,
      TULLE_MONOIDS(X)
#undef X
  };
  return names[static_cast<size_t>(monoid)];
}

Accumulate monoid_called(std::string_view text) {
#define X(name, spelled) \
  if (text == (spelled)) return Monoid::name;
  TULLE_MONOIDS(X)
#undef X
  return std::nullopt;
}

Accumulate accumulation_of(const Stmt& producer, const std::string& workspace) {
  for (const Assign* assign : assigns(producer)) {
    if (assign->tensor == workspace) return assign->accumulate;
  }
  internal_error("nothing fills the workspace ", workspace);
}

std::vector<const Assign*> assigns(const Stmt& stmt) {
  std::vector<const Assign*> found;
  auto append = [&](const Stmt& part) {
    const auto more = assigns(part);
    found.insert(found.end(), more.begin(), more.end());
  };
  if (const auto* forall = stmt.as<Forall>()) {
    append(forall->body);
  } else if (const auto* where = stmt.as<Where>()) {
    append(where->producer);
    append(where->consumer);
  } else if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) append(part);
  } else if (const auto* assign = stmt.as<Assign>()) {
    found.push_back(assign);
  }
  return found;
}

const Forall* find_loop(const Stmt& stmt, const std::string& var) {
  if (const auto* forall = stmt.as<Forall>()) {
    return forall->var == var ? forall : find_loop(forall->body, var);
  }
  if (const auto* where = stmt.as<Where>()) {
    const Forall* found = find_loop(where->consumer, var);
    return found ? found : find_loop(where->producer, var);
  }
  if (const auto* sequence = stmt.as<Sequence>()) {
    for (const Stmt& part : sequence->stmts) {
      if (const Forall* found = find_loop(part, var)) return found;
    }
  }
  return nullptr;
}

bool find_assign(const Stmt& stmt, const Assign& assign) {
  const std::vector<const Assign*> all = assigns(stmt);
  return std::find(all.begin(), all.end(), &assign) != all.end();
}

bool reads(const expr::Expr& value, const std::string& tensor) {
  const auto accesses = expr::accesses(value);
  return std::any_of(accesses.begin(), accesses.end(),
                     [&](const expr::Access* access) { return access->tensor == tensor; });
}

bool reads(const Stmt& stmt, const std::string& tensor) {
  const std::vector<const Assign*> all = assigns(stmt);
  return std::any_of(all.begin(), all.end(),
                     [&](const Assign* assign) { return reads(assign->value, tensor); });
}

bool covers(const std::vector<std::string>& indices, const Nest& nest, const std::string& var) {
  if (std::find(indices.begin(), indices.end(), var) != indices.end()) return true;
  const Variable& variable = nest.variable(var);
  if (variable.origin == Variable::Origin::Source) return false;
  return covers(indices, nest, variable.parent) &&
         (!variable.is_of_two() || covers(indices, nest, variable.second));
}

}  // namespace tulle::nest
