// Collects the parameters that a kernel's body uses.
#include "lower/kernel_parameters.h"

#include <map>
#include <set>

#include "loop/rewrite.h"
#include "support/check.h"

namespace tulle::lower {

loop::Kernel with_parameters(std::string name, loop::Stmt body) {
  std::map<std::string, loop::BufferParam> buffers;
  std::map<std::string, loop::Type> scalars;
  std::set<std::string> declared;
  auto use = [&](const loop::Buffer& buffer, bool writes) {
    if (buffer->space != loop::Space::Global) return;
    loop::BufferParam& param =
        buffers.try_emplace(buffer->name, loop::BufferParam{buffer, false}).first->second;
    param.writable = param.writable || writes;
  };
  loop::visit(
      body,
      [&](const loop::Stmt& stmt) {
        if (const auto* let = stmt.as<loop::Let>()) declared.insert(let->name);
        if (const auto* declare = stmt.as<loop::Declare>()) declared.insert(declare->name);
        if (const auto* loop = stmt.as<loop::For>()) declared.insert(loop->var);
        if (const auto* store = stmt.as<loop::Store>()) use(store->buffer, true);
        if (const auto* atomic = stmt.as<loop::Atomic>()) {
          use(atomic->buffer, true);
          if (!atomic->result.empty()) declared.insert(atomic->result);
        }
        if (const auto* prefetch = stmt.as<loop::PrefetchLine>()) use(prefetch->buffer, false);
        if (const auto* invoke = stmt.as<loop::Invoke>()) use(invoke->buffer, true);
      },
      [&](const loop::Expr& expr) {
        if (const auto* var = expr.as<loop::Var>()) scalars.try_emplace(var->name, var->type);
        if (const auto* load = expr.as<loop::Load>()) use(load->buffer, false);
      });
  loop::Kernel kernel{std::move(name), {}, {}, std::move(body)};
  for (auto& [_, param] : buffers) kernel.buffers.push_back(param);
  for (const auto& [scalar, type] : scalars) {
    if (!declared.contains(scalar)) kernel.scalars.push_back({scalar, type});
  }
  return kernel;
}

std::string width_buffer_name(const std::string& result) { return result + ".widest"; }

std::string count_buffer_name(const std::string& result, size_t group) {
  return concat(result, ".entries", group);
}

}  // namespace tulle::lower
