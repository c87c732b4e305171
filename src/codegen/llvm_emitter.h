// Emits the nodes of the loop IR as LLVM IR. Contains the code for all targets. Target-specific
// emitters derive from it.
#pragma once

#include <string>
#include <unordered_map>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include "loop/host.h"

namespace tulle::codegen {

class LlvmEmitter {
 public:
  explicit LlvmEmitter(llvm::Module& module);
  virtual ~LlvmEmitter() = default;
  LlvmEmitter(const LlvmEmitter&) = delete;
  LlvmEmitter& operator=(const LlvmEmitter&) = delete;

 protected:
  // The target-specific parts.
  virtual void bound_loop(const loop::For& loop) = 0;  // Parallel, Block, Warp, Lane, Thread
  virtual void allocate_elsewhere(const loop::Allocate&) = 0;  // Shared, Workspace
  // Releases what allocate_elsewhere allocated in the block.
  virtual void leave_block(const loop::Block& block) = 0;
  virtual void barrier(const loop::Barrier& stmt) = 0;
  virtual void invoke(const loop::Invoke& stmt) = 0;
  virtual void nontemporal_store(llvm::Value* value, llvm::Value* pointer, llvm::Align align) = 0;
  virtual llvm::Value* lane_reduce(const loop::LaneReduce& expr) = 0;
  virtual llvm::Value* lane_shuffle(const loop::LaneShuffle& expr) = 0;
  virtual llvm::Value* library_call(loop::Function function, llvm::Value* scalar) = 0;
  virtual void prefetch(const loop::PrefetchLine& stmt) = 0;
  // Whether the target converts from f32 to the half type, and from f16 to f32, in hardware.
  virtual bool converts(DType half) const = 0;
  // A vector atomic on elements that start at `pointer`. By default it updates one element after
  // the other.
  virtual void atomic_elements(const loop::Atomic& stmt, llvm::Value* pointer,
                               llvm::Value* elements);
  // The threads that take part in atomics on a buffer.
  virtual llvm::SyncScope::ID atomic_scope(const loop::BufferNode&) {
    return llvm::SyncScope::System;
  }

  // Starts a function. `entry` holds the stack slots and branches to the returned block, which
  // becomes the insertion point.
  llvm::BasicBlock* begin_function(llvm::Function* function);
  llvm::AllocaInst* stack_slot(llvm::Type* type, const std::string& name, llvm::Align align);
  void bind_value(const std::string& name, llvm::Value* value);
  void bind_buffer(const loop::BufferNode& buffer, llvm::Value* pointer, bool read_only);
  llvm::Value* pointer_to(const loop::BufferNode& buffer) const;

  // emit_stmt.cpp
  void statement(const loop::Stmt& stmt);
  void serial_loop(const loop::For& loop, llvm::Value* begin, llvm::Value* end);
  // Emits `yes` (and `no`) under a scalar condition and continues after both.
  template <typename Yes, typename No>
  void branch(llvm::Value* condition, Yes&& yes, No&& no);

  // emit_expr.cpp
  llvm::Value* value(const loop::Expr& expr);
  llvm::Type* type_of(loop::Type type) const;         // in registers: bool is i1, halves i16
  llvm::Type* memory_type_of(loop::Type type) const;  // in memory: bool is i8
  llvm::Value* to_memory(llvm::Value* value, loop::Type type);
  llvm::Value* from_memory(llvm::Value* value, loop::Type type);
  llvm::Value* cast(llvm::Value* value, loop::Type from, loop::Type to);
  llvm::Constant* float_constant(loop::Type type, double value) const;
  llvm::Value* logical(loop::BinaryOp op, const loop::Expr& a, const loop::Expr& b);

  // emit_halves.cpp: conversions between the bits of f16 or bf16 and f32.
  llvm::Value* widen_half(llvm::Value* bits, DType half);
  llvm::Value* narrow_to_half(llvm::Value* value, DType half);

  // emit_arithmetic.cpp
  llvm::Value* arithmetic(loop::BinaryOp op, llvm::Value* a, llvm::Value* b, loop::Type type);
  llvm::Value* compare(loop::BinaryOp op, llvm::Value* a, llvm::Value* b, loop::Type type);
  llvm::Value* divide(loop::BinaryOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* extremum(bool is_max, llvm::Value* a, llvm::Value* b, loop::Type type);
  llvm::Value* call(const loop::Call& expr);
  // Pow2, Exponent and Mantissa, by operations on the bits of a floating-point number.
  llvm::Value* take_apart(loop::Function function, llvm::Value* x);
  llvm::Value* combine(loop::ReduceOp op, llvm::Value* a, llvm::Value* b, loop::Type type);
  llvm::Value* vector_reduce(loop::ReduceOp op, llvm::Value* value, loop::Type type);

  // emit_memory.cpp
  llvm::Value* load(const loop::Load& expr);
  void store(const loop::Store& stmt);
  void atomic(const loop::Atomic& stmt);
  llvm::Value* address(const loop::BufferNode& buffer, llvm::Value* index, bool in_bounds);

  llvm::BasicBlock* new_block(const char* name);
  llvm::Function* current_function();

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;

 private:
  struct Storage {
    llvm::Value* pointer;
    bool read_only;  // throughout the function
  };

  void local_array(const loop::Allocate& stmt);
  void while_loop(const loop::While& loop);
  void declare(const loop::Declare& stmt);
  llvm::Value* select(const loop::Select& expr);
  llvm::Value* load_lanes(const loop::Load& expr, llvm::Value* predicate);
  llvm::Value* load_one(const loop::Load& expr, llvm::Value* index);
  llvm::Value* compare_exchange(loop::ReduceOp op, const loop::BufferNode& buffer, loop::Type type,
                                llvm::Value* pointer, llvm::Value* operand);
  // Updates one element and returns its old value.
  llvm::Value* atomic_element(loop::ReduceOp op, const loop::BufferNode& buffer, loop::Type type,
                              llvm::Value* pointer, llvm::Value* operand);
  // The same for a minimum or maximum, by atomics on the bits of the number.
  void atomic_extreme(loop::ReduceOp op, const loop::BufferNode& buffer, loop::Type type,
                      llvm::Value* pointer, llvm::Value* operand);
  void mark_load(llvm::Instruction* instruction, const loop::BufferNode& buffer);

  llvm::BasicBlock* entry_ = nullptr;
  std::unordered_map<std::string, llvm::Value*> values_;
  std::unordered_map<std::string, llvm::AllocaInst*> variables_;  // of Declare
  std::unordered_map<std::string, Storage> buffers_;
};

template <typename Yes, typename No>
void LlvmEmitter::branch(llvm::Value* condition, Yes&& yes, No&& no) {
  llvm::BasicBlock* yes_block = new_block("then");
  llvm::BasicBlock* no_block = new_block("else");
  llvm::BasicBlock* join = new_block("join");
  builder_.CreateCondBr(condition, yes_block, no_block);
  builder_.SetInsertPoint(yes_block);
  yes();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(no_block);
  no();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
}

}  // namespace tulle::codegen
