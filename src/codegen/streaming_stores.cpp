// Replaces store instructions by inline assembly.
#include "codegen/streaming_stores.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace tulle::codegen {

namespace {

struct StreamingStore {
  uint64_t bytes;
  unsigned words;  // of the type below
  unsigned word_bits;
  const char* text;
  const char* constraints;
};
constexpr StreamingStore kStreamingStores[] = {
    {1, 1, 8, "st.global.cs.b8 [$0], $1;", "l,r"},
    {2, 1, 16, "st.global.cs.b16 [$0], $1;", "l,h"},
    {4, 1, 32, "st.global.cs.b32 [$0], $1;", "l,r"},
    {8, 1, 64, "st.global.cs.b64 [$0], $1;", "l,l"},
    {16, 4, 32, "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r"},
};

void replace(llvm::StoreInst& store, const StreamingStore& shape) {
  llvm::IRBuilder<> builder(&store);
  llvm::Type* word = builder.getIntNTy(shape.word_bits);
  llvm::Type* all = shape.words == 1 ? word : llvm::FixedVectorType::get(word, shape.words);
  llvm::Value* bits = builder.CreateBitCast(store.getValueOperand(), all);
  std::vector<llvm::Value*> operands{store.getPointerOperand()};
  for (uint64_t at = 0; at < shape.words; ++at) {
    llvm::Value* one = shape.words == 1 ? bits : builder.CreateExtractElement(bits, at);
    operands.push_back(shape.word_bits == 8 ? builder.CreateZExt(one, builder.getInt32Ty()) : one);
  }
  std::vector<llvm::Type*> types;
  for (const llvm::Value* operand : operands) types.push_back(operand->getType());
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), types, false);
  const std::string constraints = std::string(shape.constraints) + ",~{memory}";
  builder.CreateCall(llvm::InlineAsm::get(type, shape.text, constraints, /*hasSideEffects=*/true),
                     operands);
  store.eraseFromParent();
}

}  // namespace

void emit_streaming_stores(llvm::Function& function) {
  constexpr unsigned kGlobalSpace = 1;
  std::vector<llvm::StoreInst*> stores;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store && store->hasMetadata(llvm::LLVMContext::MD_nontemporal) &&
          store->getPointerAddressSpace() == kGlobalSpace) {
        stores.push_back(store);
      }
    }
  }
  const llvm::DataLayout& layout = function.getDataLayout();
  for (llvm::StoreInst* store : stores) {
    const uint64_t bytes = layout.getTypeStoreSize(store->getValueOperand()->getType());
    for (const StreamingStore& shape : kStreamingStores) {
      if (shape.bytes != bytes || store->getAlign() < llvm::Align(bytes)) continue;
      replace(*store, shape);
      break;
    }
  }
}

}  // namespace tulle::codegen
