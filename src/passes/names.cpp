// Collects the names of a kernel and makes new ones.
#include "passes/names.h"

#include "loop/rewrite.h"
#include "support/check.h"

namespace tulle::passes {

using namespace loop;

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

Names::Names(const Kernel& kernel) : taken_(names_written(kernel.body)) {
  for (const BufferParam& param : kernel.buffers) taken_.insert(param.buffer->name);
  for (const ScalarParam& param : kernel.scalars) taken_.insert(param.name);
  visit(
      kernel.body,
      [&](const Stmt& inner) {
        if (const auto* allocate = inner.as<Allocate>()) taken_.insert(allocate->buffer->name);
      },
      [](const Expr&) {});
}

std::string Names::fresh(const std::string& wish) {
  std::string name = wish;
  for (int number = 2; !taken_.insert(name).second; ++number) name = concat(wish, number);
  return name;
}

}  // namespace tulle::passes
