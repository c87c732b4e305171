// Compares the addresses of iterations as linear forms over loop-invariant names.
#include "passes/vector_memory.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "loop/rewrite.h"
#include "loop/used_names.h"
#include "passes/linear.h"
#include "passes/vector_facts.h"
#include "support/check.h"

namespace tulle::passes {

using namespace loop;

namespace {

// One load or store. `index` is a function of the loop variable, loop-invariant names and unstable
// names.
struct IterationAccess {
  Expr index;
  bool store;
  bool repeated;      // in an inner loop
  bool value_varies;  // of a store
};

// The movement of an index between lanes: by `stride`, 0 for a uniform index, nothing for an
// irregular one.
struct Movement {
  std::optional<int64_t> stride;
  Linear rest;                    // without the loop variable
  std::vector<int64_t> unstable;  // coefficients of terms that change inside an iteration
  bool opaque = false;            // an unstable term without a fixed coefficient
};

// Replaces names by their values.
class Resolution : public Rewriter {
 public:
  explicit Resolution(const std::map<std::string, Expr>& values) : values_(values) {}

  using Rewriter::rewrite;
  Expr rewrite(const Expr& expr) override {
    const auto* var = expr.as<Var>();
    if (!var) return Rewriter::rewrite(expr);
    const auto value = values_.find(var->name);
    return value == values_.end() ? expr : value->second;
  }

 private:
  const std::map<std::string, Expr>& values_;
};

class Accesses {
 public:
  Accesses(const For& loop, const std::set<std::string>& varying) : loop_(loop), varying_(varying) {
    walk(loop.body);
  }

  const std::map<std::string, std::vector<IterationAccess>>& by_buffer() const { return accesses_; }

  Movement movement(const Expr& index) const {
    Movement result;
    result.stride = 0;
    for (const auto& [term, coefficient] : linear_form(index).terms) {
      const auto* var = term.as<Var>();
      if (var && var->name == loop_.var) {
        result.stride = coefficient;
        continue;
      }
      result.rest.add(Linear{0, {{term, 1}}}, coefficient);
      if (reads(term, loop_.var) || reads_varying(term)) return {std::nullopt, {}, {}, false};
      if (var && unstable_.contains(var->name)) {
        result.unstable.push_back(coefficient);
      } else if (is_unstable(term)) {
        result.opaque = true;
      }
    }
    result.rest.constant = linear_form(index).constant;
    return result;
  }

 private:
  void walk(const Stmt& stmt) {
    switch (stmt->kind) {
      case StmtKind::Block:
        for (const Stmt& inner : stmt.as<Block>()->stmts) walk(inner);
        return;
      case StmtKind::Let: {
        const auto* let = stmt.as<Let>();
        note_loads(let->value);
        values_[let->name] = resolve(let->value);
        return;
      }
      case StmtKind::Declare:
        unstable_.insert(stmt.as<Declare>()->name);
        values_.erase(stmt.as<Declare>()->name);
        return note_loads(stmt.as<Declare>()->init);
      case StmtKind::Assign:
        return note_loads(stmt.as<Assign>()->value);
      case StmtKind::Store:
        return note_store(*stmt.as<Store>());
      case StmtKind::Atomic: {  // atomics may execute in any order
        const auto* atomic = stmt.as<Atomic>();
        return note_store(*Store::make(atomic->buffer, atomic->index, atomic->value).as<Store>());
      }
      case StmtKind::If:
        note_loads(stmt.as<If>()->condition);
        walk(stmt.as<If>()->yes);
        if (stmt.as<If>()->no) walk(stmt.as<If>()->no);
        return;
      case StmtKind::For: {
        const auto* loop = stmt.as<For>();
        note_loads(loop->begin);
        note_loads(loop->end);
        unstable_.insert(loop->var);
        values_.erase(loop->var);
        return walk_repeated(loop->body);
      }
      case StmtKind::While:
        note_loads(stmt.as<While>()->condition);
        return walk_repeated(stmt.as<While>()->body);
      default:
        return;
    }
  }

  void walk_repeated(const Stmt& body) {
    ++depth_;
    walk(body);
    --depth_;
  }

  void note_loads(const Expr& expr) {
    visit(expr, [&](const Expr& inner) {
      const auto* load = inner.as<Load>();
      if (load)
        accesses_[load->buffer->name].push_back({resolve(load->index), false, depth_ > 0, false});
    });
  }

  void note_store(const Store& store) {
    note_loads(store.index);
    note_loads(store.value);
    const std::set<std::string> names = names_read(store.value);
    const bool value_varies = std::any_of(
        names.begin(), names.end(), [&](const auto& name) { return varying_.contains(name); });
    accesses_[store.buffer->name].push_back({resolve(store.index), true, depth_ > 0, value_varies});
    written_.insert(store.buffer->name);
  }

  // The expression with the lets of the body substituted, so that equal trees have equal values.
  // The values of lets become shared parts. The code walks over them only below an index, because
  // a tree of all uses of a value may be exponentially larger than the body.
  Expr resolve(const Expr& expr) const { return Resolution(values_).rewrite(expr); }

  static bool reads(const Expr& expr, const std::string& name) {
    return names_read(expr).contains(name);
  }

  bool reads_varying(const Expr& expr) const {
    for (const std::string& name : names_read(expr)) {
      if (name != loop_.var && varying_.contains(name)) return true;
    }
    return false;
  }

  bool is_unstable(const Expr& term) const {
    bool found = false;
    visit(term, [&](const Expr& inner) {
      if (const auto* var = inner.as<Var>()) found |= unstable_.contains(var->name);
      if (const auto* load = inner.as<Load>()) found |= written_.contains(load->buffer->name);
    });
    return found;
  }

  const For& loop_;
  const std::set<std::string>& varying_;
  std::map<std::string, std::vector<IterationAccess>> accesses_;
  std::map<std::string, Expr> values_;  // of lets
  std::set<std::string> unstable_;      // names whose value changes within an iteration
  std::set<std::string> written_;       // buffers
  int depth_ = 0;
};

class Checker {
 public:
  Checker(const Accesses& accesses, std::optional<int64_t> extent)
      : accesses_(accesses), extent_(extent) {}

  void check(const std::string& buffer, const std::vector<IterationAccess>& all) const {
    bool stored = false;
    for (const IterationAccess& access : all) stored |= access.store;
    if (!stored) return;
    if (all.size() == 1) return check_lone_store(buffer, all.front());

    const Movement first = accesses_.movement(all.front().index);
    for (const IterationAccess& access : all) {
      const Movement movement = accesses_.movement(access.index);
      if (movement.stride == 0)
        throw NotVectorizable{concat("all iterations access one element of ", buffer)};
      if (!movement.stride || movement.stride != first.stride || !distinct_lanes(movement)) {
        throw NotVectorizable{
            concat("different iterations may access the same element of ", buffer)};
      }
    }
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if ((all[i].store || all[j].store) && may_meet(all[i], all[j])) {
          throw NotVectorizable{concat("an iteration may access an element of ", buffer,
                                       " that another iteration writes")};
        }
      }
    }
  }

 private:
  void check_lone_store(const std::string& buffer, const IterationAccess& store) const {
    const Movement movement = accesses_.movement(store.index);
    if (movement.stride == 0) {
      if (!store.value_varies) return;
      throw NotVectorizable{
          concat("every iteration stores a different value to one element of ", buffer)};
    }
    // A scatter writes its lanes in the order of the iterations.
    const bool fine =
        movement.stride ? distinct_lanes(movement) || !store.repeated : !store.repeated;
    if (!fine)
      throw NotVectorizable{concat("different iterations may access the same element of ", buffer)};
  }

  // Whether different iterations never access the same element through this index.
  bool distinct_lanes(const Movement& movement) const {
    if (movement.opaque) return false;
    for (const int64_t coefficient : movement.unstable) {
      if (!extent_ || coefficient % span(movement) != 0) return false;
    }
    return true;
  }

  int64_t span(const Movement& movement) const {
    return std::max<int64_t>(1, std::abs(*movement.stride) * *extent_);
  }

  // Whether different iterations may access the same element through two indices of equal stride.
  bool may_meet(const IterationAccess& a, const IterationAccess& b) const {
    const Movement x = accesses_.movement(a.index), y = accesses_.movement(b.index);
    Linear difference = x.rest;
    difference.add(y.rest, -1);
    const bool moving = !x.unstable.empty() || !y.unstable.empty();
    if (!difference.terms.empty() && !moving) return true;
    for (const auto& [term, coefficient] : difference.terms) {
      if (!extent_ || coefficient % span(x) != 0) return true;
    }
    const int64_t apart = difference.constant;
    if (apart % *x.stride != 0) return false;
    if (apart == 0) return false;
    if (!extent_) return true;
    return moving ? apart % span(x) != 0 : std::abs(apart) < span(x);
  }

  const Accesses& accesses_;
  std::optional<int64_t> extent_;
};

}  // namespace

void check_memory(const For& loop, std::optional<int64_t> extent,
                  const std::set<std::string>& varying) {
  const Accesses accesses(loop, varying);
  const Checker checker(accesses, extent);
  for (const auto& [buffer, all] : accesses.by_buffer()) checker.check(buffer, all);
}

}  // namespace tulle::passes
