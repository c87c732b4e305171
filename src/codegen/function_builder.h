// The LLVM function under construction: its blocks and stack slots, and the LLVM types of the loop
// IR's types.
#pragma once

#include <string>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include "loop/type.h"

namespace tulle::codegen {

class FunctionBuilder {
 public:
  explicit FunctionBuilder(llvm::Module& into);

  // Starts a function. Its first block holds the stack slots and branches to the returned block,
  // which becomes the insertion point.
  llvm::BasicBlock* begin(llvm::Function* function);
  llvm::Function* current();
  llvm::BasicBlock* new_block(const char* name);
  llvm::AllocaInst* stack_slot(llvm::Type* type, const std::string& name, llvm::Align align);
  // Emits `yes` (and `no`) under a scalar condition and continues after both.
  template <typename Yes, typename No>
  void branch(llvm::Value* condition, Yes&& yes, No&& no);

  llvm::Type* type_of(loop::Type type) const;         // in registers: bool is i1, halves i16
  llvm::Type* memory_type_of(loop::Type type) const;  // in memory: bool is i8
  llvm::Value* to_memory(llvm::Value* value, loop::Type type);
  llvm::Value* from_memory(llvm::Value* value, loop::Type type);

  llvm::Module& module;
  llvm::LLVMContext& context;
  llvm::IRBuilder<> instructions;  // inserts them at the current place

 private:
  llvm::BasicBlock* entry_ = nullptr;
};

template <typename Yes, typename No>
void FunctionBuilder::branch(llvm::Value* condition, Yes&& yes, No&& no) {
  llvm::BasicBlock* yes_block = new_block("then");
  llvm::BasicBlock* no_block = new_block("else");
  llvm::BasicBlock* join = new_block("join");
  instructions.CreateCondBr(condition, yes_block, no_block);
  instructions.SetInsertPoint(yes_block);
  yes();
  instructions.CreateBr(join);
  instructions.SetInsertPoint(no_block);
  no();
  instructions.CreateBr(join);
  instructions.SetInsertPoint(join);
}

}  // namespace tulle::codegen
