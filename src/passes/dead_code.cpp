// Counts reads and drops names without any. Of names declared twice, both count as read if one is.
#include "passes/dead_code.h"

#include <map>
#include <set>
#include <string>

#include "loop/rewrite.h"

namespace tulle::passes {

using namespace loop;

namespace {

class Reads {
 public:
  explicit Reads(const Stmt& body) {
    visit(
        body, [&](const Stmt& stmt) { note(stmt); },
        [&](const Expr& expr) {
          if (const auto* var = expr.as<Var>()) ++variables_[var->name];
          if (const auto* load = expr.as<Load>()) ++buffers_[load->buffer->name];
        });
  }

  bool variable(const std::string& name) const { return count(variables_, name) > 0; }
  bool buffer(const std::string& name) const { return count(buffers_, name) > 0; }
  bool stored(const std::string& name) const { return stored_.contains(name); }

 private:
  using Counts = std::map<std::string, int>;

  static int count(const Counts& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? 0 : found->second;
  }

  // A read whose only use is to update the same name does not count.
  void note(const Stmt& stmt) {
    if (const auto* assign = stmt.as<Assign>()) {
      visit(assign->value, [&](const Expr& expr) {
        if (const auto* var = expr.as<Var>(); var && var->name == assign->name)
          --variables_[var->name];
      });
    }
    if (const auto* store = stmt.as<Store>()) {
      stored_.insert(store->buffer->name);
      visit(store->value, [&](const Expr& expr) {
        const auto* load = expr.as<Load>();
        if (load && load->buffer->name == store->buffer->name) --buffers_[load->buffer->name];
      });
    }
    if (const auto* atomic = stmt.as<Atomic>()) ++buffers_[atomic->buffer->name];
    if (const auto* invoke = stmt.as<Invoke>()) ++buffers_[invoke->buffer->name];
  }

  Counts variables_, buffers_;
  std::set<std::string> stored_;
};

class Dropping : public Rewriter {
 public:
  explicit Dropping(const Reads& reads) : reads_(reads) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    return is_unread(stmt) ? Block::make({}) : Rewriter::rewrite(stmt);
  }

 private:
  bool is_unread(const Stmt& stmt) const {
    if (const auto* let = stmt.as<Let>()) return !reads_.variable(let->name);
    if (const auto* declare = stmt.as<Declare>()) return !reads_.variable(declare->name);
    if (const auto* assign = stmt.as<Assign>()) return !reads_.variable(assign->name);
    if (const auto* store = stmt.as<Store>()) {
      return store->buffer->space == Space::Local && !reads_.buffer(store->buffer->name);
    }
    if (const auto* allocate = stmt.as<Allocate>()) {
      const std::string& name = allocate->buffer->name;
      return !reads_.buffer(name) &&
             (allocate->buffer->space == Space::Local || !reads_.stored(name));
    }
    return false;
  }

  const Reads& reads_;
};

}  // namespace

Stmt drop_unread(const Stmt& kernel_body) {
  const Reads reads(kernel_body);
  return Dropping(reads).rewrite(kernel_body);
}

}  // namespace tulle::passes
