// Replaces atomicrmw instructions by inline assembly.
#include "codegen/blind_atomics.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tulle::codegen {

namespace {

using Operation = llvm::AtomicRMWInst::BinOp;

struct BlindAtomic {
  Operation operation;
  unsigned bits;
  const char* text;
  const char* constraints;
};
constexpr BlindAtomic kBlindAtomics[] = {
    {Operation::FAdd, 32, "red.global.add.f32 [$0], $1;", "l,f"},
    {Operation::FAdd, 64, "red.global.add.f64 [$0], $1;", "l,d"},
    {Operation::Add, 32, "red.global.add.u32 [$0], $1;", "l,r"},
    {Operation::Add, 64, "red.global.add.u64 [$0], $1;", "l,l"},
    {Operation::Max, 32, "red.global.max.s32 [$0], $1;", "l,r"},
    {Operation::Max, 64, "red.global.max.s64 [$0], $1;", "l,l"},
    {Operation::Min, 32, "red.global.min.s32 [$0], $1;", "l,r"},
    {Operation::Min, 64, "red.global.min.s64 [$0], $1;", "l,l"},
    {Operation::UMax, 32, "red.global.max.u32 [$0], $1;", "l,r"},
    {Operation::UMax, 64, "red.global.max.u64 [$0], $1;", "l,l"},
    {Operation::UMin, 32, "red.global.min.u32 [$0], $1;", "l,r"},
    {Operation::UMin, 64, "red.global.min.u64 [$0], $1;", "l,l"},
    {Operation::And, 32, "red.global.and.b32 [$0], $1;", "l,r"},
    {Operation::And, 64, "red.global.and.b64 [$0], $1;", "l,l"},
    {Operation::Or, 32, "red.global.or.b32 [$0], $1;", "l,r"},
    {Operation::Or, 64, "red.global.or.b64 [$0], $1;", "l,l"},
};

void replace(llvm::AtomicRMWInst& atomic, const BlindAtomic& shape) {
  llvm::IRBuilder<> builder(&atomic);
  llvm::Value* pointer = atomic.getPointerOperand();
  llvm::Value* value = atomic.getValOperand();
  auto* type =
      llvm::FunctionType::get(builder.getVoidTy(), {pointer->getType(), value->getType()}, false);
  const std::string constraints = std::string(shape.constraints) + ",~{memory}";
  builder.CreateCall(llvm::InlineAsm::get(type, shape.text, constraints, /*hasSideEffects=*/true),
                     {pointer, value});
  atomic.eraseFromParent();
}

}  // namespace

void emit_blind_atomics(llvm::Function& function) {
  constexpr unsigned kGlobalSpace = 1;
  std::vector<llvm::AtomicRMWInst*> atomics;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      if (atomic && atomic->use_empty() && atomic->getPointerAddressSpace() == kGlobalSpace)
        atomics.push_back(atomic);
    }
  }
  for (llvm::AtomicRMWInst* atomic : atomics) {
    const unsigned bits = atomic->getType()->getScalarSizeInBits();
    for (const BlindAtomic& shape : kBlindAtomics) {
      if (shape.operation != atomic->getOperation() || shape.bits != bits) continue;
      replace(*atomic, shape);
      break;
    }
  }
}

}  // namespace tulle::codegen
