// The LLVM values of the names in scope: values, variables and buffers.
#pragma once

#include <string>
#include <unordered_map>

#include "llvm/IR/Instructions.h"

#include "loop/host.h"

namespace tulle::codegen {

class Bindings {
 public:
  void clear();
  void bind_value(const std::string& name, llvm::Value* value);
  void bind_variable(const std::string& name, llvm::AllocaInst* slot);  // of Declare
  void bind_buffer(const loop::BufferNode& buffer, llvm::Value* pointer, bool read_only);

  llvm::Value* value(const std::string& name) const;
  // Null for other names.
  llvm::AllocaInst* variable(const std::string& name) const;
  llvm::Value* pointer_to(const loop::BufferNode& buffer) const;
  bool is_read_only(const loop::BufferNode& buffer) const;

 private:
  struct Storage {
    llvm::Value* pointer;
    bool read_only;  // throughout the function
  };

  const Storage& storage(const loop::BufferNode& buffer) const;

  std::unordered_map<std::string, llvm::Value*> values_;
  std::unordered_map<std::string, llvm::AllocaInst*> variables_;
  std::unordered_map<std::string, Storage> buffers_;
};

}  // namespace tulle::codegen
