// Renaming what a kernel declares.
#include "loop/plain_names.h"

#include <map>
#include <string>
#include <tuple>

#include "loop/rewrite.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

class Renaming final : public Rewriter {
 public:
  explicit Renaming(Kernel& kernel) {
    for (BufferParam& param : kernel.buffers) {
      const Buffer plain = make_buffer(concat("$buffer", buffers_.size()), param.buffer->element,
                                       param.buffer->space);
      plain_of(*param.buffer) = plain;
      param.buffer = plain;
    }
    for (ScalarParam& param : kernel.scalars) {
      const Expr plain = Var::make(concat("$scalar", scalars_.size()), param.type);
      scalars_[param.name] = plain;
      param.name = plain.as<Var>()->name;
    }
  }

  Expr rewrite(const Expr& expr) override {
    const auto* var = expr.as<Var>();
    if (!var) return Rewriter::rewrite(expr);
    const auto found = scalars_.find(var->name);
    return found != scalars_.end() ? found->second : Var::make(local(var->name), var->type);
  }

  // Names are met in the order of the text; one that is declared again is the same again.
  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* let = stmt.as<Let>()) {
      const Expr value = rewrite(let->value);
      return Let::make(local(let->name), value);
    }
    if (const auto* declare = stmt.as<Declare>()) {
      const Expr init = rewrite(declare->init);
      return Declare::make(local(declare->name), init);
    }
    if (const auto* assign = stmt.as<Assign>()) {
      const Expr value = rewrite(assign->value);
      return Assign::make(local(assign->name), value);
    }
    if (const auto* loop = stmt.as<For>()) {
      const std::string var = local(loop->var);
      const Expr begin = rewrite(loop->begin), end = rewrite(loop->end);
      return For::make(var, begin, end, rewrite(loop->body), loop->loop, loop->factor, loop->step);
    }
    if (const auto* atomic = stmt.as<Atomic>(); atomic && !atomic->result.empty()) {
      const Buffer buffer = rewrite_buffer(atomic->buffer);
      const Expr index = rewrite(atomic->index), value = rewrite(atomic->value);
      return Atomic::make(atomic->op, buffer, index, value, local(atomic->result));
    }
    return Rewriter::rewrite(stmt);
  }

  Buffer rewrite_buffer(const Buffer& buffer) override {
    Buffer& plain = plain_of(*buffer);
    if (!plain) plain = make_buffer(local(buffer->name), buffer->element, buffer->space);
    return plain;
  }

 private:
  // Blocks beside each other may have buffers of one name and different types.
  Buffer& plain_of(const BufferNode& buffer) {
    return buffers_[{buffer.name, buffer.element, buffer.space}];
  }

  const std::string& local(const std::string& name) {
    const auto found = locals_.find(name);
    if (found != locals_.end()) return found->second;
    return locals_.emplace(name, concat("local", locals_.size())).first->second;
  }

  std::map<std::tuple<std::string, DType, Space>, Buffer> buffers_;
  std::map<std::string, Expr> scalars_;  // parameters
  std::map<std::string, std::string> locals_;
};

}  // namespace

Kernel with_plain_names(const Kernel& kernel) {
  Kernel plain = kernel;
  std::erase_if(plain.name, [](char c) { return c >= '0' && c <= '9'; });
  Renaming renaming(plain);
  plain.body = renaming.rewrite(plain.body);
  return plain;
}

}  // namespace tulle::loop
