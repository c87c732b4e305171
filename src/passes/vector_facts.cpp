// Propagates variation between lanes through a body, and recognises reductions.
#include "passes/vector_facts.h"

#include <algorithm>
#include <map>

#include "loop/rewrite.h"
#include "loop/used_names.h"
#include "passes/linear.h"
#include "passes/vector_memory.h"
#include "support/check.h"

namespace tulle::passes {

using namespace loop;

namespace {

bool reads_any(const Expr& expr, const std::set<std::string>& names) {
  bool found = false;
  visit(expr, [&](const Expr& inner) {
    const auto* var = inner.as<Var>();
    found |= var && names.contains(var->name);
  });
  return found;
}

// Grows the set of varying names until it contains everything that depends on the loop variable.
class Variance {
 public:
  explicit Variance(std::set<std::string>& varying) : varying_(varying) {}

  void run(const Stmt& body) {
    size_t before = 0;
    do {
      before = varying_.size();
      follow(body, false);
    } while (varying_.size() != before);
  }

 private:
  // `divided`: lanes may disagree on whether this statement executes.
  void follow(const Stmt& stmt, bool divided) {
    switch (stmt->kind) {
      case StmtKind::Block:
        for (const Stmt& inner : stmt.as<Block>()->stmts) follow(inner, divided);
        return;
      case StmtKind::Let:
        return mark(stmt.as<Let>()->name, reads_any(stmt.as<Let>()->value, varying_));
      case StmtKind::Declare:
        return mark(stmt.as<Declare>()->name, reads_any(stmt.as<Declare>()->init, varying_));
      case StmtKind::Assign:
        return mark(stmt.as<Assign>()->name,
                    divided || reads_any(stmt.as<Assign>()->value, varying_));
      case StmtKind::If: {
        const auto* branch = stmt.as<If>();
        const bool both = divided || reads_any(branch->condition, varying_);
        follow(branch->yes, both);
        if (branch->no) follow(branch->no, both);
        return;
      }
      case StmtKind::For: {
        const auto* loop = stmt.as<For>();
        if (reads_any(loop->begin, varying_) || reads_any(loop->end, varying_)) {
          throw NotVectorizable{
              concat("the bounds of the loop over ", loop->var, " differ between lanes")};
        }
        return follow(loop->body, divided);
      }
      case StmtKind::While:
        if (reads_any(stmt.as<While>()->condition, varying_)) {
          throw NotVectorizable{"the condition of a while loop differs between lanes"};
        }
        return follow(stmt.as<While>()->body, divided);
      case StmtKind::Store:
      case StmtKind::PrefetchLine:
        return;
      case StmtKind::Allocate:
        throw NotVectorizable{
            concat(stmt.as<Allocate>()->buffer->name, " is allocated in the loop")};
      case StmtKind::Atomic:
        if (divided || !stmt.as<Atomic>()->result.empty())
          throw NotVectorizable{concat("an atomic on ", stmt.as<Atomic>()->buffer->name)};
        return;
      case StmtKind::Barrier:
        throw NotVectorizable{"a barrier"};
      case StmtKind::Invoke:
        throw NotVectorizable{concat("a call to ", text_of(stmt.as<Invoke>()->function))};
    }
  }

  void mark(const std::string& name, bool varies) {
    if (varies) varying_.insert(name);
  }

  std::set<std::string>& varying_;
};

// The operation by which the outermost node of `value` combines the old value of `name` with
// another value.
std::optional<ReduceOp> outer_operation(const Expr& value) {
  if (const auto* call = value.as<Call>()) {
    return call->function == Function::Fma ? std::optional(ReduceOp::Add) : std::nullopt;
  }
  const auto* binary = value.as<Binary>();
  if (!binary) return std::nullopt;
  switch (binary->op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
      return ReduceOp::Add;
    case BinaryOp::Mul:
      return ReduceOp::Mul;
    case BinaryOp::Min:
      return ReduceOp::Min;
    case BinaryOp::Max:
      return ReduceOp::Max;
    case BinaryOp::And:
      return ReduceOp::And;
    case BinaryOp::Or:
      return ReduceOp::Or;
    default:
      return std::nullopt;
  }
}

// Whether `value` combines `name` with other values by `op` only.
bool combines(const Expr& value, const std::string& name, ReduceOp op) {
  if (const auto* var = value.as<Var>()) return var->name == name;
  if (outer_operation(value) != op) return false;
  if (const auto* call = value.as<Call>()) return combines(call->args[2], name, op);
  const auto* binary = value.as<Binary>();
  return combines(binary->a, name, op) ||
         (binary->op != BinaryOp::Sub && combines(binary->b, name, op));
}

int count_reads(const Stmt& body, const std::string& name) {
  int count = 0;
  visit(
      body, [](const Stmt&) {},
      [&](const Expr& expr) {
        const auto* var = expr.as<Var>();
        count += var && var->name == name ? 1 : 0;
      });
  return count;
}

// Every outer variable that the body assigns to must be a reduction.
std::vector<LaneReduction> find_reductions(const For& loop) {
  std::set<std::string> declared;
  std::map<std::string, std::vector<Expr>> assigned;
  visit(
      loop.body,
      [&](const Stmt& stmt) {
        if (const auto* declare = stmt.as<Declare>()) declared.insert(declare->name);
        if (const auto* assign = stmt.as<Assign>()) assigned[assign->name].push_back(assign->value);
      },
      [](const Expr&) {});

  std::vector<LaneReduction> reductions;
  for (const auto& [name, values] : assigned) {
    if (declared.contains(name)) continue;
    const auto op = outer_operation(values.front());
    bool combined =
        op.has_value() && count_reads(loop.body, name) == static_cast<int>(values.size());
    for (const Expr& value : values) combined = combined && combines(value, name, *op);
    if (!combined)
      throw NotVectorizable{concat(name, " carries a value from one iteration to the next")};
    reductions.push_back({name, *op, values.front().type()});
  }
  return reductions;
}

// Whether all lanes are active and start at a multiple of their number.
bool is_aligned(const Expr& index, const For& loop, std::optional<int64_t> extent) {
  const auto* begin = loop.begin.as<IntConst>();
  if (!begin || begin->value % loop.factor != 0 || !extent || *extent % loop.factor != 0)
    return false;
  const Linear form = linear_form(index);
  return form.coefficient(loop.var) == 1 && form.constant % loop.factor == 0 &&
         std::all_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
           const auto* var = term.first.template as<Var>();
           return (var && var->name == loop.var) || term.second % loop.factor == 0;
         });
}

void check_atomics(const For& loop, std::optional<int64_t> extent,
                   const std::set<std::string>& varying) {
  visit(
      loop.body,
      [&](const Stmt& stmt) {
        const auto* atomic = stmt.as<Atomic>();
        if (!atomic) return;
        std::set<std::string> others = names_read(atomic->index);
        others.erase(loop.var);
        const bool alone = std::none_of(others.begin(), others.end(), [&](const std::string& name) {
          return varying.contains(name);
        });
        if (!alone || !is_aligned(atomic->index, loop, extent))
          throw NotVectorizable{concat("an atomic on ", atomic->buffer->name)};
      },
      [](const Expr&) {});
}

void refuse_vectors(const For& loop) {
  visit(
      loop.body, [](const Stmt&) {},
      [&](const Expr& expr) {
        if (expr.type().is_vector()) throw NotVectorizable{"an inner loop is vectorised already"};
        if (expr->kind == ExprKind::LaneReduce || expr->kind == ExprKind::LaneShuffle) {
          throw NotVectorizable{"an operation across the lanes of a warp"};
        }
      });
}

}  // namespace

VectorFacts check_vector_loop(const For& loop, std::optional<int64_t> extent) {
  refuse_vectors(loop);
  VectorFacts facts;
  facts.reductions = find_reductions(loop);
  facts.varying.insert(loop.var);
  for (const LaneReduction& reduction : facts.reductions) facts.varying.insert(reduction.name);
  Variance(facts.varying).run(loop.body);
  check_atomics(loop, extent, facts.varying);
  check_memory(loop, extent, facts.varying);
  return facts;
}

}  // namespace tulle::passes
