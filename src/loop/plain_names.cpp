// Numbers the declarations of a kernel.
#include "loop/plain_names.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "loop/rename_locals.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

class Renaming final : public LocalRenaming {
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

  Buffer rewrite_buffer(const Buffer& buffer) override {
    Buffer& plain = plain_of(*buffer);
    if (!plain) plain = make_buffer(local(buffer->name), buffer->element, buffer->space);
    return plain;
  }

 private:
  // Adjacent blocks may declare buffers with the same name and different types.
  Buffer& plain_of(const BufferNode& buffer) {
    return buffers_[{buffer.name, buffer.element, buffer.space}];
  }

  Expr parameter(const Expr& var) const override {
    const auto found = scalars_.find(var.as<Var>()->name);
    return found == scalars_.end() ? Expr() : found->second;
  }

  std::string local(const std::string& name) override {
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
  plain.name.resize(std::min(plain.name.size(), plain.name.find('_')));
  std::erase_if(plain.name, [](char c) { return c >= '0' && c <= '9'; });
  Renaming renaming(plain);
  plain.body = renaming.rewrite(plain.body);
  return plain;
}

}  // namespace tulle::loop
