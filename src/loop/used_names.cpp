// Collects names by visiting trees.
#include "loop/used_names.h"

#include "loop/rewrite.h"

namespace tulle::loop {

std::set<std::string> names_written(const Stmt& stmt) {
  std::set<std::string> names;
  visit(
      stmt,
      [&](const Stmt& inner) {
        if (const auto* let = inner.as<Let>()) names.insert(let->name);
        if (const auto* declare = inner.as<Declare>()) names.insert(declare->name);
        if (const auto* assign = inner.as<Assign>()) names.insert(assign->name);
        if (const auto* loop = inner.as<For>()) names.insert(loop->var);
        if (const auto* atomic = inner.as<Atomic>(); atomic && !atomic->result.empty()) {
          names.insert(atomic->result);
        }
      },
      [](const Expr&) {});
  return names;
}

std::set<std::string> names_read(const Expr& expr) {
  std::set<std::string> names;
  visit(expr, [&](const Expr& inner) {
    if (const auto* var = inner.as<Var>()) names.insert(var->name);
  });
  return names;
}

std::set<std::string> read_only_buffers(const Kernel& kernel) {
  std::set<std::string> names;
  for (const BufferParam& param : kernel.buffers) {
    if (!param.writable) names.insert(param.buffer->name);
  }
  return names;
}

std::set<std::string> names_of(const Kernel& kernel) {
  std::set<std::string> names = names_written(kernel.body);
  for (const BufferParam& param : kernel.buffers) names.insert(param.buffer->name);
  for (const ScalarParam& param : kernel.scalars) names.insert(param.name);
  visit(
      kernel.body,
      [&](const Stmt& inner) {
        if (const auto* allocate = inner.as<Allocate>()) names.insert(allocate->buffer->name);
      },
      [](const Expr&) {});
  return names;
}

}  // namespace tulle::loop
