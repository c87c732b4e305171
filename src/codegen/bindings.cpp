// Binds names to LLVM values and finds them.
#include "codegen/bindings.h"

#include "support/check.h"

namespace tulle::codegen {

void Bindings::clear() {
  values_.clear();
  variables_.clear();
  buffers_.clear();
}

void Bindings::bind_value(const std::string& name, llvm::Value* value) {
  variables_.erase(name);
  values_[name] = value;
}

void Bindings::bind_variable(const std::string& name, llvm::AllocaInst* slot) {
  values_.erase(name);
  variables_[name] = slot;
}

void Bindings::bind_buffer(const loop::BufferNode& buffer, llvm::Value* pointer, bool read_only) {
  buffers_[buffer.name] = {pointer, read_only};
}

llvm::Value* Bindings::value(const std::string& name) const {
  const auto found = values_.find(name);
  TULLE_CHECK(found != values_.end(), "the variable ", name, " is not in scope");
  return found->second;
}

llvm::AllocaInst* Bindings::variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : found->second;
}

const Bindings::Storage& Bindings::storage(const loop::BufferNode& buffer) const {
  const auto found = buffers_.find(buffer.name);
  TULLE_CHECK(found != buffers_.end(), "the buffer ", buffer.name,
              " is neither a parameter nor allocated");
  return found->second;
}

llvm::Value* Bindings::pointer_to(const loop::BufferNode& buffer) const {
  return storage(buffer).pointer;
}

bool Bindings::is_read_only(const loop::BufferNode& buffer) const {
  return storage(buffer).read_only;
}

}  // namespace tulle::codegen
