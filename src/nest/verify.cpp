// The checks of nests.
#include "nest/verify.h"

#include <algorithm>
#include <set>

#include "support/check.h"

namespace tulle::nest {

namespace {

using Names = std::set<std::string>;

class Verifier {
 public:
  explicit Verifier(const Nest& nest) : nest_(nest) {}

  void verify() {
    for (const auto& [name, variable] : nest_.variables) verify_provenance(name);
    verify_hints();
    TULLE_CHECK(nest_.root, "a nest with a root");
    verify_stmt(nest_.root);
  }

 private:
  template <typename... Parts>
  [[noreturn]] static void fail(const Parts&... parts) {
    internal_error("The nest is not well-formed: ", parts..., ".");
  }

  void require_variable(const std::string& name) const {
    if (!nest_.variables.contains(name)) fail("'", name, "' is not a variable of it");
  }

  const Tensor& require_tensor(const std::string& name) const {
    const auto found = nest_.tensors.find(name);
    if (found == nest_.tensors.end()) fail("'", name, "' is not a tensor of it");
    return found->second;
  }

  // Following parents from a variable must end at a source variable, in at most as many steps as
  // there are variables.
  void verify_provenance(const std::string& name, size_t steps = 0) const {
    require_variable(name);
    if (steps > nest_.variables.size()) fail("the variable '", name, "' is derived from itself");
    const Variable& variable = nest_.variable(name);
    if (variable.origin == Variable::Origin::Source) return;
    if (variable.factor < 1) fail("'", name, "' has the factor ", variable.factor);
    verify_provenance(variable.parent, steps + 1);
    if (variable.is_of_two()) verify_provenance(variable.second, steps + 1);
    const bool is_stored = variable.origin == Variable::Origin::Stored;
    if ((variable.is_position() || is_stored || variable.is_of_chunks()) &&
        require_tensor(variable.tensor).role != Tensor::Role::Operand)
      fail("'", name, "' counts entries of '", variable.tensor, "', which is no operand");
  }

  void verify_hints() const {
    for (const auto& [var, extent] : nest_.known_extents) {
      require_variable(var);
      if (nest_.variable(var).origin != Variable::Origin::Source) {
        fail("the extent of '", var, "' follows from its provenance and cannot be stated");
      }
      if (extent < 0) fail("the extent of '", var, "' is ", extent);
    }
    for (const auto& [tensor, distance] : nest_.prefetches) {
      if (require_tensor(tensor).role != Tensor::Role::Operand || distance < 1) {
        fail("prefetch of '", tensor, "' by ", distance, "; it takes an operand and at least 1");
      }
    }
    for (const std::string& tensor : nest_.nontemporal) {
      if (require_tensor(tensor).role != Tensor::Role::Result) {
        fail("nontemporal takes a result, and '", tensor, "' is none");
      }
    }
  }

  void verify_stmt(const Stmt& stmt) {
    if (const auto* forall = stmt.as<Forall>()) {
      verify_forall(*forall);
    } else if (const auto* where = stmt.as<Where>()) {
      verify_where(*where);
    } else if (const auto* sequence = stmt.as<Sequence>()) {
      for (const Stmt& part : sequence->stmts) verify_stmt(part);
    } else if (const auto* assign = stmt.as<Assign>()) {
      verify_assign(*assign);
    }
  }

  void verify_forall(const Forall& forall) {
    require_variable(forall.var);
    for (const std::string& outer : loops_) {
      if (nest_.derives_from(forall.var, outer) || nest_.derives_from(outer, forall.var)) {
        fail("the loop over '", forall.var, "' stands inside one over '", outer,
             "', which already binds it");
      }
    }
    loops_.push_back(forall.var);
    verify_stmt(forall.body);
    loops_.pop_back();
  }

  void verify_where(const Where& where) {
    for (const std::string& name : where.workspaces) verify_workspace(where, name);
    writable_.insert(where.workspaces.begin(), where.workspaces.end());
    verify_stmt(where.producer);
    for (const std::string& name : where.workspaces) writable_.erase(name);
    readable_.insert(where.workspaces.begin(), where.workspaces.end());
    verify_stmt(where.consumer);
    for (const std::string& name : where.workspaces) readable_.erase(name);
  }

  void verify_workspace(const Where& where, const std::string& name) const {
    if (require_tensor(name).role != Tensor::Role::Workspace) {
      fail("where fills '", name, "', which is no workspace");
    }
    if (writable_.contains(name) || readable_.contains(name)) {
      fail("the workspace '", name, "' is filled again inside its own where");
    }
    const auto produced = assigns(where.producer);
    if (std::none_of(produced.begin(), produced.end(),
                     [&](const Assign* assign) { return assign->tensor == name; })) {
      fail("the producer of '", name, "' never writes it");
    }
    const Accumulate accumulate = accumulation_of(where.producer, name);
    if (!std::all_of(produced.begin(), produced.end(), [&](const Assign* assign) {
          return assign->tensor != name || assign->accumulate == accumulate;
        })) {
      fail("the producer of '", name, "' accumulates it in two ways");
    }
    verify_lead(where, name, accumulate);
    verify_staging(where, name, accumulate);
    if (!nest_.leads(name) && !reads(where.consumer, name))
      fail("the consumer of '", name, "' never reads it");
  }

  void verify_lead(const Where& where, const std::string& name, Accumulate accumulate) const {
    const std::string& lead = nest_.tensor(name).lead;
    if (has_lead(accumulate) == lead.empty()) {
      fail("the workspace '", name, "' accumulates as one with a lead does, but for its lead");
    }
    const auto& all = where.workspaces;
    if (!lead.empty() && std::find(all.begin(), all.end(), lead) == all.end()) {
      fail("the workspace '", name, "' and its lead '", lead, "' are filled in different places");
    }
  }

  // Checks that the producer is a copy: loops around the element of a dense operand.
  void verify_staging(const Where& where, const std::string& name, Accumulate accumulate) const {
    const Tensor& tensor = nest_.tensor(name);
    if (tensor.depth < 1 || (tensor.depth > 1 && tensor.staging == Tensor::Staging::None))
      fail("the workspace '", name, "' has ", tensor.depth, " copies");
    if (tensor.staging == Tensor::Staging::None) return;
    Stmt inner = where.producer;
    while (const auto* loop = inner.as<Forall>()) inner = loop->body;
    const auto* assign = inner.as<Assign>();
    const auto* read = assign ? assign->value.as<expr::Access>() : nullptr;
    const Tensor* source = read ? &require_tensor(read->tensor) : nullptr;
    const bool lasts = source && (source->role == Tensor::Role::Operand ||
                                  source->staging != Tensor::Staging::None);
    if (where.workspaces.size() != 1 || accumulate || !lasts || !source->type.format.is_dense()) {
      fail("'", name, "' is staged, but no copy of a dense operand");
    }
  }

  void verify_assign(const Assign& assign) {
    const Tensor::Role role = require_tensor(assign.tensor).role;
    if (role == Tensor::Role::Operand) fail("it writes the operand '", assign.tensor, "'");
    if (role == Tensor::Role::Workspace && !writable_.contains(assign.tensor)) {
      fail("the workspace '", assign.tensor, "' is written outside its producer");
    }
    verify_indices(assign.tensor, assign.indices);
    verify_no_reduce(assign.value);
    for (const expr::Access* access : expr::accesses(assign.value)) verify_access(*access);
  }

  void verify_access(const expr::Access& access) {
    const Tensor::Role role = require_tensor(access.tensor).role;
    if (role == Tensor::Role::Result) fail("it reads the result '", access.tensor, "'");
    if (role == Tensor::Role::Workspace && !readable_.contains(access.tensor)) {
      fail("the workspace '", access.tensor, "' is read outside its consumer");
    }
    verify_indices(access.tensor, access.indices);
    const auto [known, is_new] = ids_.try_emplace(access.id, access.tensor, access.indices);
    if (!is_new && known->second != std::pair(access.tensor, access.indices)) {
      fail("two different accesses, one of them to '", access.tensor, "', have the id ", access.id);
    }
  }

  static void verify_no_reduce(const expr::Expr& value) {
    if (value.as<expr::Reduce>()) fail("an assignment holds a sum; it should be a loop");
    for (const expr::Expr& child : expr::children(value)) verify_no_reduce(child);
  }

  void verify_indices(const std::string& tensor, const std::vector<std::string>& indices) const {
    const int rank = nest_.tensor(tensor).type.format.rank();
    if (static_cast<int>(indices.size()) != rank) {
      fail("'", tensor, "' has rank ", rank, " and is accessed with ", indices.size(), " indices");
    }
    for (const std::string& index : indices) {
      require_variable(index);
      if (!nest_.determines(loops_, index))
        fail("no loop around '", tensor, "' binds its index '", index, "'");
    }
  }

  const Nest& nest_;
  std::vector<std::string> loops_;  // loops around the current statement
  Names writable_;                  // workspaces whose producer contains it
  Names readable_;                  // workspaces whose consumer contains it
  std::map<int, std::pair<std::string, std::vector<std::string>>> ids_;  // by access id
};

}  // namespace

void verify_nest(const Nest& nest) { Verifier(nest).verify(); }

}  // namespace tulle::nest
