// Analyses the use of local arrays in a loop and pads their allocations.
#include "passes/pad_locals.h"

#include <algorithm>

#include "loop/rewrite.h"
#include "passes/linear.h"

namespace tulle::passes {

using namespace loop;

namespace {

// Calls `on_access` with the buffer and index of every access to a local array.
template <typename OnAccess>
void visit_locals(const Stmt& body, const OnAccess& on_access) {
  const auto note = [&](const Buffer& buffer, const Expr& index) {
    if (buffer->space == Space::Local) on_access(buffer->name, index);
  };
  visit(
      body,
      [&](const Stmt& stmt) {
        if (const auto* store = stmt.as<Store>()) note(store->buffer, store->index);
      },
      [&](const Expr& expr) {
        if (const auto* load = expr.as<Load>()) note(load->buffer, load->index);
      });
}

bool branches(const Stmt& body) {
  bool found = false;
  visit(body, [&](const Stmt& stmt) { found |= stmt->kind == StmtKind::If; }, [](const Expr&) {});
  return found;
}

class Growth : public Rewriter {
 public:
  Growth(const std::map<std::string, int64_t>& padding,
         const std::map<std::string, int64_t>& filled)
      : padding_(padding), filled_(filled) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const auto* allocate = stmt.as<Allocate>();
    const auto more = allocate ? padding_.find(allocate->buffer->name) : padding_.end();
    if (more == padding_.end()) return Rewriter::rewrite(stmt);
    const auto filled = filled_.find(allocate->buffer->name);
    const bool zeroed =
        allocate->zeroed || filled == filled_.end() || filled->second < more->second;
    return Allocate::make(allocate->buffer, allocate->size + more->second, zeroed);
  }

 private:
  const std::map<std::string, int64_t>& padding_;
  const std::map<std::string, int64_t>& filled_;
};

}  // namespace

LocalSizes::LocalSizes(const Stmt& kernel_body) {
  visit(
      kernel_body,
      [&](const Stmt& stmt) {
        const auto* allocate = stmt.as<Allocate>();
        if (!allocate || allocate->buffer->space != Space::Local) return;
        const auto* size = allocate->size.as<IntConst>();
        const int64_t elements = size ? size->value : -1;
        const auto [known, first] = sizes_.emplace(allocate->buffer->name, elements);
        if (!first && known->second != elements) known->second = -1;
      },
      [](const Expr&) {});
}

bool LocalSizes::have_room(const For& loop, int64_t done, int64_t rest, int lanes) const {
  const auto* begin = loop.begin.as<IntConst>();
  const bool divided = branches(loop.body);
  bool room = lanes > rest;
  visit_locals(loop.body, [&](const std::string& buffer, const Expr& index) {
    const Linear place = linear_form(index);
    const bool plain =
        begin && !divided && place.terms.size() == 1 && place.coefficient(loop.var) == 1;
    const auto size = sizes_.find(buffer);
    room = room && plain && size != sizes_.end() &&
           place.constant + begin->value + done + rest == size->second;
  });
  return room;
}

std::set<std::string> LocalSizes::pad(const For& loop, int64_t missing) {
  std::set<std::string> names, loaded;
  visit_locals(loop.body, [&](const std::string& buffer, const Expr&) { names.insert(buffer); });
  visit(
      loop.body, [](const Stmt&) {},
      [&](const Expr& expr) {
        if (const auto* load = expr.as<Load>()) loaded.insert(load->buffer->name);
      });
  for (const std::string& name : names) {
    if (!padding_.contains(name) && !loaded.contains(name)) filled_[name] = missing;
    padding_[name] = std::max(padding_[name], missing);
  }
  return names;
}

Stmt LocalSizes::grow(const Stmt& kernel_body) const {
  return Growth(padding_, filled_).rewrite(kernel_body);
}

}  // namespace tulle::passes
