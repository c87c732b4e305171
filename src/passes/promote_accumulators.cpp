// Finds elements that a loop repeatedly reads and writes, outer loops first.
#include "passes/promote_accumulators.h"

#include <map>
#include <set>

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "loop/used_names.h"
#include "passes/linear.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

// How a loop's body uses one buffer.
struct Usage {
  Buffer buffer;
  Expr index;  // of the first access
  bool loaded = false;
  bool stored = false;
  bool nontemporal = false;
  bool promotable = true;  // plain scalar accesses, all to the same index
};

class Usages {
 public:
  explicit Usages(const Stmt& body) {
    visit(
        body, [&](const Stmt& stmt) { note(stmt); },
        [&](const Expr& expr) {
          if (const auto* load = expr.as<Load>())
            access(load->buffer, load->index, load->predicate).loaded = true;
        });
  }

  const std::map<std::string, Usage>& all() const { return usages_; }
  bool synchronises() const { return synchronises_; }

 private:
  void note(const Stmt& stmt) {
    if (const auto* store = stmt.as<Store>()) {
      Usage& usage = access(store->buffer, store->index, store->predicate);
      usage.stored = true;
      usage.nontemporal |= store->nontemporal;
    }
    if (const auto* atomic = stmt.as<Atomic>()) usages_[atomic->buffer->name].promotable = false;
    if (const auto* invoke = stmt.as<Invoke>()) usages_[invoke->buffer->name].promotable = false;
    if (const auto* allocate = stmt.as<Allocate>())
      usages_[allocate->buffer->name].promotable = false;
    const auto* loop = stmt.as<For>();
    synchronises_ |= stmt->kind == StmtKind::Barrier || (loop && loop->loop >= ForKind::Block);
  }

  Usage& access(const Buffer& buffer, const Expr& index, const Expr& predicate) {
    Usage& usage = usages_[buffer->name];
    if (!usage.buffer) {
      usage.buffer = buffer;
      usage.index = index;
    }
    usage.promotable &= index.type() == kIndex && !predicate && same(index, usage.index);
    return usage;
  }

  std::map<std::string, Usage> usages_;
  bool synchronises_ = false;
};

// Whether every execution of the statement stores to the buffer.
bool always_stores(const Stmt& stmt, const std::string& buffer) {
  if (const auto* store = stmt.as<Store>()) return store->buffer->name == buffer;
  const auto* block = stmt.as<Block>();
  if (!block) return false;
  for (const Stmt& inner : block->stmts) {
    if (always_stores(inner, buffer)) return true;
  }
  return false;
}

bool is_invariant(const Expr& index, const For& loop, const std::set<std::string>& written,
                  const Usages& usages) {
  bool invariant = true;
  visit(index, [&](const Expr& expr) {
    if (const auto* var = expr.as<Var>())
      invariant &= var->name != loop.var && !written.contains(var->name);
    if (const auto* load = expr.as<Load>()) {
      const Usage& usage = usages.all().at(load->buffer->name);
      invariant &= !usage.stored && usage.promotable;
    }
  });
  return invariant;
}

// Replaces the promoted element of a buffer by a variable.
class PromotedElement : public Rewriter {
 public:
  PromotedElement(std::string buffer, Expr variable)
      : buffer_(std::move(buffer)), variable_(std::move(variable)) {}

  Expr rewrite(const Expr& expr) override {
    const auto* load = expr.as<Load>();
    return load && load->buffer->name == buffer_ ? variable_ : Rewriter::rewrite(expr);
  }

  Stmt rewrite(const Stmt& stmt) override {
    const auto* store = stmt.as<Store>();
    if (!store || store->buffer->name != buffer_) return Rewriter::rewrite(stmt);
    return Assign::make(variable_.as<Var>()->name, rewrite(store->value));
  }

 private:
  std::string buffer_;
  Expr variable_;
};

class Promoter : public Rewriter {
 public:
  explicit Promoter(FreshNames& names) : names_(names) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const auto* loop = stmt.as<For>();
    const bool plain = loop && (loop->loop == ForKind::Serial || loop->loop == ForKind::Vector ||
                                loop->loop == ForKind::Unrolled);
    const Usage* usage = plain ? find(*loop) : nullptr;
    return usage ? promote(*loop, *usage) : Rewriter::rewrite(stmt);
  }

 private:
  // A buffer whose element is worth promoting; null if there is none. Valid until the next call.
  const Usage* find(const For& loop) {
    usages_.emplace(loop.body);
    if (usages_->synchronises()) return nullptr;
    const std::set<std::string> written = names_written(loop.body);
    for (const auto& [name, usage] : usages_->all()) {
      const bool wanted =
          usage.loaded && usage.stored && usage.promotable &&
          (usage.buffer->space == Space::Global || usage.buffer->space == Space::Workspace);
      if (wanted && always_stores(loop.body, name) &&
          is_invariant(usage.index, loop, written, *usages_))
        return &usage;
    }
    return nullptr;
  }

  Stmt promote(const For& loop, const Usage& found) {
    const Usage usage = found;
    const std::string name = names_.fresh(usage.buffer->name + "_value");
    const Expr variable = Var::make(name, {usage.buffer->element, 1});
    const Stmt body = PromotedElement(usage.buffer->name, variable).rewrite(loop.body);
    const Stmt rest =
        For::make(loop.var, loop.begin, loop.end, body, loop.loop, loop.factor, loop.step);
    std::vector<Stmt> stmts = {Declare::make(name, Load::make(usage.buffer, usage.index)),
                               rewrite(rest)};
    if (!mutant("promote-drops-store")) {
      stmts.push_back(Store::make(usage.buffer, usage.index, variable, {}, usage.nontemporal));
    }
    const auto extent = constant_difference(loop.end, loop.begin);
    const Stmt block = Block::make(std::move(stmts));
    return extent && *extent > 0 ? block : If::make(loop.begin < loop.end, block);
  }

  FreshNames& names_;
  std::optional<Usages> usages_;
};

}  // namespace

Kernel promote_accumulators(Kernel kernel) {
  FreshNames names(kernel);
  kernel.body = Promoter(names).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
