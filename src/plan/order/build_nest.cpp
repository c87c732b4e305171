// Builds nests.
#include "plan/order/build_nest.h"

#include <algorithm>
#include <functional>

#include "expr/walk.h"
#include "plan/order/long_sums.h"
#include "plan/rewrite/gathering.h"
#include "support/check.h"
#include "support/name_list.h"

namespace tulle::plan {

using expr::Access;
using expr::Expr;

namespace {

class Builder {
 public:
  Builder(const OrderProblem& problem, const OrderChoice& choice, nest::Nest& nest)
      : problem_(problem),
        choice_(choice),
        nest_(nest),
        is_long_(has_long_workspaces(problem, choice)),
        next_id_(expr::next_access_id(problem.statement->value)) {}

  nest::Stmt build() {
    const expr::Statement& statement = *problem_.statement;
    switch (gathering_of(statement, *problem_.tensors)) {
      case Gathering::Result: {
        const auto* whole = statement.value.as<expr::Reduce>();
        return loops(problem_.outer,
                     assign(statement.tensor, statement.indices, monoid_of(*whole), whole->body));
      }
      case Gathering::Tuple:
        return gather_tuple();
      default:
        return loops(problem_.outer,
                     assign(statement.tensor, statement.indices, std::nullopt, statement.value));
    }
  }

 private:
  static bool among(const NameList& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  // Loops over these variables in the chosen order.
  nest::Stmt loops(const NameList& variables, nest::Stmt body) const {
    for (auto var = choice_.order.rbegin(); var != choice_.order.rend(); ++var) {
      if (among(variables, *var)) body = nest::Forall::make(*var, body);
    }
    return body;
  }

  // A reduction and the workspace that gathers it. `indices` are loop variables.
  struct Gathered {
    std::string name;
    Expr reduction;
    NameList indices;
    int id;  // of its accesses
  };

  const Gathered& add_workspace(std::vector<Gathered>& gathered, const Expr& reduction,
                                const std::function<NameList(const expr::Reduce&)>& indices) {
    const auto known = std::find_if(gathered.begin(), gathered.end(), [&](const Gathered& one) {
      return expr::is_same(one.reduction, reduction);
    });
    if (known != gathered.end()) return *known;
    const auto& reduce = *reduction.as<expr::Reduce>();
    nest::Tensor workspace;
    workspace.role = nest::Tensor::Role::Workspace;
    // Declares the lead before the workspaces that it scales.
    if (const Expr lead = lead_of(reduce)) {
      workspace.lead = add_workspace(gathered, lead, indices).name;
    }
    const std::string name = concat(problem_.statement->tensor, ".sum", sums_++);
    const NameList own = indices(reduce);
    workspace.type = {type_of(reduce, own), DType::Int64,
                      Format::dense(static_cast<int>(own.size()))};
    nest_.tensors[name] = workspace;
    return gathered.emplace_back(Gathered{name, reduction, own, next_id_++});
  }

  // The type in which the reduction is gathered at these indices. Sums of many terms in memory are
  // wider than their terms.
  DType type_of(const expr::Reduce& reduce, const NameList& indices) const {
    const nest::Monoid monoid = monoid_of(reduce);
    const bool adds = monoid == nest::Monoid::Sum || monoid == nest::Monoid::Scaled;
    const bool is_wide = is_long_ && adds && !indices.empty() && reduce.type == DType::Float32;
    return is_wide ? DType::Float64 : reduce.type;
  }

  // Replaces the outermost reductions of the value by workspaces. Equal reductions share one.
  Expr with_workspaces(const Expr& value, std::vector<Gathered>& gathered,
                       const std::function<NameList(const expr::Reduce&)>& indices) {
    return replace_sums(value, [&](const Expr& reduction) {
      const Gathered one = add_workspace(gathered, reduction, indices);
      return Access::make(one.id, one.name, one.indices, reduction.type());
    });
  }

  nest::Stmt accumulate(const Gathered& one) {
    const auto& reduce = *one.reduction.as<expr::Reduce>();
    return assign(one.name, one.indices, monoid_of(reduce), term_of(reduce));
  }

  // The assignment. Its reductions are gathered in scalars before it: tuples together, others
  // separately.
  nest::Stmt assign(const std::string& tensor, const NameList& indices,
                    nest::Accumulate accumulated, const Expr& value) {
    std::vector<Gathered> gathered;
    const Expr flat =
        with_workspaces(value, gathered, [](const expr::Reduce&) { return NameList(); });
    nest::Stmt stmt = nest::Assign::make(tensor, indices, accumulated, flat);
    while (!gathered.empty()) {
      const NameList over = gathered[0].reduction.as<expr::Reduce>()->indices;
      std::vector<Gathered> together = {gathered[0]};
      std::vector<Gathered> rest;
      for (size_t at = 1; at < gathered.size(); ++at) {
        const std::string& lead = nest_.tensor(gathered[at].name).lead;
        const bool goes_with = std::any_of(together.begin(), together.end(),
                                           [&](const Gathered& one) { return one.name == lead; });
        (goes_with ? together : rest).push_back(gathered[at]);
      }
      NameList names;
      std::vector<nest::Stmt> stmts;
      for (const Gathered& one : together) {
        names.push_back(one.name);
        stmts.push_back(accumulate(one));
      }
      const nest::Stmt body = stmts.size() == 1 ? stmts[0] : nest::Sequence::make(stmts);
      stmt = nest::Where::make(names, stmt, loops(parts_of(over), body));
      gathered = std::move(rest);
    }
    return stmt;
  }

  NameList parts_of(const NameList& indices) const {
    NameList variables;
    for (const std::string& index : indices) {
      const auto& parts = problem_.space.parts.at(index);
      variables.insert(variables.end(), parts.begin(), parts.end());
    }
    return variables;
  }

  // The loops outside the reductions, around a where. Its producer fills all workspaces, and its
  // consumer computes the result from them.
  nest::Stmt gather_tuple() {
    const expr::Statement& statement = *problem_.statement;
    const auto first = std::find_if(choice_.order.begin(), choice_.order.end(),
                                    [&](const auto& v) { return problem_.reduced.contains(v); });
    NameList before, inside, rest;
    for (auto var = choice_.order.begin(); var != choice_.order.end(); ++var) {
      if (!among(problem_.outer, *var)) continue;
      (var < first ? before : rest).push_back(*var);
      if (var > first && !problem_.reduced.contains(*var)) inside.push_back(*var);
    }
    std::vector<Gathered> gathered;
    const Expr flat = with_workspaces(statement.value, gathered, [&](const expr::Reduce& reduce) {
      return tuple_indices(reduce, rest, inside);
    });
    NameList names;
    for (const Gathered& one : gathered) names.push_back(one.name);
    const nest::Stmt consumer =
        loops(inside, nest::Assign::make(statement.tensor, statement.indices, std::nullopt, flat));
    return loops(before, nest::Where::make(names, consumer, fill(gathered, rest, 0)));
  }

  // The inner variables that index the workspace: those that the reduction depends on, and those of
  // loops around its last loop. The producer fills the workspace separately for each of their
  // values.
  NameList tuple_indices(const expr::Reduce& reduce, const NameList& rest,
                         const NameList& inside) const {
    const NameList used =
        parts_of(expr::free_indices(Expr(std::make_shared<const expr::Reduce>(reduce))));
    size_t last = 0;
    for (size_t at = 0; at < rest.size(); ++at) {
      if (problem_.reduced.contains(rest[at]) || among(used, rest[at])) last = at;
    }
    NameList indices;
    for (size_t at = 0; at <= last; ++at) {
      if (among(inside, rest[at])) indices.push_back(rest[at]);
    }
    return indices;
  }

  // The loops over the variables from `bound` on. Fills each workspace as soon as its variables and
  // all reduced variables are bound.
  nest::Stmt fill(const std::vector<Gathered>& gathered, const NameList& rest, size_t bound) {
    auto is_ready = [&](const Gathered& one, size_t depth) {
      for (size_t at = depth; at < rest.size(); ++at) {
        if (problem_.reduced.contains(rest[at]) || among(one.indices, rest[at])) return false;
      }
      return true;
    };
    std::vector<nest::Stmt> stmts;
    std::vector<Gathered> later;
    for (const Gathered& one : gathered) {
      if (is_ready(one, bound)) {
        stmts.push_back(accumulate(one));
      } else {
        later.push_back(one);
      }
    }
    if (!later.empty()) {
      stmts.push_back(nest::Forall::make(rest[bound], fill(later, rest, bound + 1)));
    }
    return stmts.size() == 1 ? stmts[0] : nest::Sequence::make(std::move(stmts));
  }

  static Expr replace_sums(const Expr& expr, const std::function<Expr(const Expr&)>& replace) {
    if (expr.as<expr::Reduce>()) return replace(expr);
    return expr::with_children(expr,
                               [&](const Expr& child) { return replace_sums(child, replace); });
  }

  const OrderProblem& problem_;
  const OrderChoice& choice_;
  nest::Nest& nest_;
  const bool is_long_;
  int next_id_;
  int sums_ = 0;
};

}  // namespace

Expr redirect(const Expr& expr, const AccessReplacements& accesses) {
  if (const auto* access = expr.as<Access>()) {
    const auto found = accesses.find({access->id, access->tensor});
    return found == accesses.end() ? expr : found->second;
  }
  return expr::with_children(expr, [&](const Expr& child) { return redirect(child, accesses); });
}

namespace {

// Adds the indices whose extents the value uses. They may have no loop.
void add_extents(const Expr& expr, nest::Nest& nest) {
  if (const auto* value = expr.as<expr::IndexValue>()) nest.variables.try_emplace(value->index);
  for (const Expr& child : expr::children(expr)) add_extents(child, nest);
}

// Names for each operand the first one of the nest that has the same structure arrays.
void note_common_structures(nest::Nest& nest) {
  std::map<std::string, std::string> first;  // by the operand that the others are like
  for (auto& [name, tensor] : nest.tensors) {
    const std::string& owner = tensor.type.like.empty() ? name : tensor.type.like;
    const std::string& shared = first.try_emplace(owner, name).first->second;
    if (shared != name) tensor.shares_pattern_of = shared;
  }
}

}  // namespace

nest::Nest build_nest(const OrderProblem& problem, const OrderChoice& choice,
                      const std::map<std::string, int64_t>& known_extents,
                      const expr::TensorType& result) {
  nest::Nest nest;
  nest.variables = problem.space.variables;
  add_extents(problem.statement->value, nest);
  for (const auto& [index, variable] : nest.variables) {
    const auto known = known_extents.find(index);
    if (known != known_extents.end()) nest.known_extents.insert(*known);
  }
  for (const Access* access : expr::accesses(problem.statement->value)) {
    nest.tensors[access->tensor].type = problem.tensors->at(access->tensor);
  }
  note_common_structures(nest);
  nest::Tensor& target = nest.tensors[problem.statement->tensor];
  target.role = nest::Tensor::Role::Result;
  target.type = result;
  target.onto = problem.statement->adds_to;
  if (!target.onto.empty()) target.onto_by = monoid_of(problem.statement->adds_by);
  if (choice.route == Route::Shared) target.shares_pattern_of = choice.shared;
  nest.root = Builder(problem, choice, nest).build();
  return nest;
}

}  // namespace tulle::plan
