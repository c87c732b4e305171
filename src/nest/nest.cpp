// Makers and look-ups of nests.
#include "nest/nest.h"

#include "support/check.h"

namespace tulle::nest {

Stmt Forall::make(std::string var, Stmt body, LoopTag tag) {
  TULLE_CHECK(!var.empty() && body);
  return std::make_shared<const Forall>(std::move(var), tag, std::move(body));
}

Stmt Where::make(std::string workspace, Stmt consumer, Stmt producer) {
  TULLE_CHECK(consumer && producer);
  return std::make_shared<const Where>(std::move(workspace), std::move(consumer),
                                       std::move(producer));
}

Stmt Sequence::make(std::vector<Stmt> stmts) {
  return std::make_shared<const Sequence>(std::move(stmts));
}

Stmt Assign::make(std::string tensor, std::vector<std::string> indices, bool accumulate,
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
      return v.factor;
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

}  // namespace tulle::nest
