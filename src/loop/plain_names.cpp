// Renaming the parameters of a kernel.
#include "loop/plain_names.h"

#include <map>
#include <string>

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
      buffers_[param.buffer->name] = plain;
      param.buffer = plain;
    }
    for (ScalarParam& param : kernel.scalars) {
      const Expr plain = Var::make(concat("$scalar", scalars_.size()), param.type);
      scalars_[param.name] = plain;
      param.name = plain.as<Var>()->name;
    }
  }

  using Rewriter::rewrite;
  Expr rewrite(const Expr& expr) override {
    const auto* var = expr.as<Var>();
    if (!var) return Rewriter::rewrite(expr);
    const auto found = scalars_.find(var->name);
    return found == scalars_.end() ? expr : found->second;
  }
  Buffer rewrite_buffer(const Buffer& buffer) override {
    const auto found = buffers_.find(buffer->name);
    return found == buffers_.end() ? buffer : found->second;
  }

 private:
  std::map<std::string, Buffer> buffers_;
  std::map<std::string, Expr> scalars_;
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
