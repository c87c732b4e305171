// Blocks, stack slots and types.
#include "codegen/function_builder.h"

#include <algorithm>

#include "support/check.h"

namespace tulle::codegen {

namespace {

llvm::Type* scalar_type(llvm::LLVMContext& context, DType type) {
  switch (type) {
    case DType::Bool:
      return llvm::Type::getInt1Ty(context);
    case DType::Int32:
      return llvm::Type::getInt32Ty(context);
    case DType::Int64:
      return llvm::Type::getInt64Ty(context);
    case DType::Float16:
    case DType::BFloat16:
      return llvm::Type::getInt16Ty(context);
    case DType::Float32:
      return llvm::Type::getFloatTy(context);
    case DType::Float64:
      return llvm::Type::getDoubleTy(context);
  }
  internal_error("unknown element type");
}

llvm::Type* with_lanes(llvm::Type* scalar, int lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes));
}

}  // namespace

FunctionBuilder::FunctionBuilder(llvm::Module& into)
    : module(into), context(into.getContext()), instructions(context) {}

llvm::Function* FunctionBuilder::current() { return instructions.GetInsertBlock()->getParent(); }

llvm::BasicBlock* FunctionBuilder::new_block(const char* name) {
  return llvm::BasicBlock::Create(context, name, current());
}

llvm::BasicBlock* FunctionBuilder::begin(llvm::Function* function) {
  entry_ = llvm::BasicBlock::Create(context, "entry", function);
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context, "body", function);
  instructions.SetInsertPoint(entry_);
  instructions.CreateBr(body);
  instructions.SetInsertPoint(body);
  return body;
}

llvm::AllocaInst* FunctionBuilder::stack_slot(llvm::Type* type, const std::string& name,
                                              llvm::Align align) {
  llvm::IRBuilder<>::InsertPointGuard guard(instructions);
  instructions.SetInsertPoint(entry_->getTerminator());
  llvm::AllocaInst* slot = instructions.CreateAlloca(type, nullptr, name);
  slot->setAlignment(std::max(align, slot->getAlign()));
  return slot;
}

llvm::Type* FunctionBuilder::type_of(loop::Type type) const {
  return with_lanes(scalar_type(context, type.scalar), type.lanes);
}

llvm::Type* FunctionBuilder::memory_type_of(loop::Type type) const {
  if (!type.is_bool()) return type_of(type);
  return with_lanes(llvm::Type::getInt8Ty(context), type.lanes);
}

llvm::Value* FunctionBuilder::to_memory(llvm::Value* value, loop::Type type) {
  return type.is_bool() ? instructions.CreateZExt(value, memory_type_of(type)) : value;
}

llvm::Value* FunctionBuilder::from_memory(llvm::Value* value, loop::Type type) {
  return type.is_bool() ? instructions.CreateIsNotNull(value) : value;
}

}  // namespace tulle::codegen
