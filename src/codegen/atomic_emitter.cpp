// Atomics: single instructions, loops that compare and exchange, and vectors.
#include "codegen/atomic_emitter.h"

#include <optional>

#include "codegen/element_align.h"
#include "support/check.h"

namespace tulle::codegen {

using loop::ReduceOp;

namespace {

// The single instruction that performs the reduction, if there is one.
std::optional<llvm::AtomicRMWInst::BinOp> atomic_instruction(ReduceOp op, DType element) {
  using llvm::AtomicRMWInst;
  if (element == DType::Bool) {
    const bool is_and = op == ReduceOp::And || op == ReduceOp::Mul || op == ReduceOp::Min;
    return is_and ? AtomicRMWInst::And : AtomicRMWInst::Or;
  }
  const bool is_float = tulle::is_float(element);
  switch (op) {
    case ReduceOp::Add:
      return is_float ? AtomicRMWInst::FAdd : AtomicRMWInst::Add;
    case ReduceOp::Min:
      return is_float ? AtomicRMWInst::FMinimum : AtomicRMWInst::Min;
    case ReduceOp::Max:
      return is_float ? AtomicRMWInst::FMaximum : AtomicRMWInst::Max;
    case ReduceOp::And:
      return AtomicRMWInst::And;
    case ReduceOp::Or:
      return AtomicRMWInst::Or;
    case ReduceOp::Mul:
      return std::nullopt;
  }
  internal_error("unknown reduction");
}

// Whether the atomic is a minimum or maximum whose old value is unused.
bool is_extreme(const loop::Atomic& stmt) {
  const loop::Type type = stmt.value.type();
  return stmt.result.empty() && type.is_float() && size_of(type.scalar) >= 4 &&
         (stmt.op == ReduceOp::Max || stmt.op == ReduceOp::Min);
}

// The type of one updated element.
loop::Type element_type(const loop::Atomic& stmt) { return stmt.value.type().with_lanes(1); }

}  // namespace

llvm::Value* AtomicEmitter::update(const loop::Atomic& stmt, llvm::Value* pointer,
                                   llvm::Value* operand) {
  if (!stmt.value.type().is_vector()) return update_element(stmt, pointer, operand);
  if (target_.atomic_vector(stmt, pointer, operand)) return nullptr;
  llvm::Type* memory = function_.memory_type_of(element_type(stmt));
  for (int lane = 0; lane < stmt.value.type().lanes; ++lane) {
    const auto number = static_cast<uint64_t>(lane);
    llvm::Value* at = builder_.CreateConstGEP1_64(memory, pointer, number);
    update_element(stmt, at, builder_.CreateExtractElement(operand, number));
  }
  return nullptr;
}

llvm::Value* AtomicEmitter::update_element(const loop::Atomic& stmt, llvm::Value* pointer,
                                           llvm::Value* operand) {
  if (is_extreme(stmt)) {
    update_extreme(stmt, pointer, operand);
    return nullptr;
  }
  const DType element = element_type(stmt).scalar;
  if (const auto instruction = atomic_instruction(stmt.op, element)) {
    return builder_.CreateAtomicRMW(*instruction, pointer, operand, align_of(element),
                                    llvm::AtomicOrdering::Monotonic,
                                    target_.atomic_scope(*stmt.buffer));
  }
  return compare_exchange(stmt, pointer, operand);
}

// Retries until no other thread interferes.
llvm::Value* AtomicEmitter::compare_exchange(const loop::Atomic& stmt, llvm::Value* pointer,
                                             llvm::Value* operand) {
  const loop::Type type = element_type(stmt);
  llvm::Type* memory = function_.memory_type_of(type);
  llvm::Type* bits = builder_.getIntNTy(memory->getScalarSizeInBits());
  const llvm::Align align = align_of(type.scalar);
  const auto relaxed = llvm::AtomicOrdering::Monotonic;
  const llvm::SyncScope::ID scope = target_.atomic_scope(*stmt.buffer);
  llvm::LoadInst* first = builder_.CreateAlignedLoad(bits, pointer, align);
  first->setAtomic(relaxed, scope);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* again = function_.new_block("try");
  llvm::BasicBlock* done = function_.new_block("done");
  builder_.CreateBr(again);
  builder_.SetInsertPoint(again);
  llvm::PHINode* old = builder_.CreatePHI(bits, 2);
  old->addIncoming(first, before);
  llvm::Value* updated =
      arithmetic_.combine(stmt.op, builder_.CreateBitCast(old, memory), operand, type);
  llvm::Value* exchange = builder_.CreateAtomicCmpXchg(
      pointer, old, builder_.CreateBitCast(updated, bits), align, relaxed, relaxed, scope);
  old->addIncoming(builder_.CreateExtractValue(exchange, 0), again);
  builder_.CreateCondBr(builder_.CreateExtractValue(exchange, 1), done, again);
  builder_.SetInsertPoint(done);
  return builder_.CreateBitCast(old, memory);
}

// Nonnegative numbers are ordered like their bits; negative ones precede them in the reverse order
// of theirs. A NaN is kept: it gets the sign with which its bits win.
void AtomicEmitter::update_extreme(const loop::Atomic& stmt, llvm::Value* pointer,
                                   llvm::Value* operand) {
  using llvm::AtomicRMWInst;
  const bool largest = stmt.op == ReduceOp::Max;
  llvm::Type* number = operand->getType();
  llvm::Value* nan = llvm::ConstantFP::getQNaN(number, !largest);
  llvm::Value* kept = builder_.CreateSelect(builder_.CreateFCmpUNO(operand, operand), nan, operand);
  llvm::Value* bits =
      builder_.CreateBitCast(kept, builder_.getIntNTy(number->getScalarSizeInBits()));
  const auto apply = [&](AtomicRMWInst::BinOp instruction) {
    builder_.CreateAtomicRMW(instruction, pointer, bits, align_of(element_type(stmt).scalar),
                             llvm::AtomicOrdering::Monotonic, target_.atomic_scope(*stmt.buffer));
  };
  function_.branch(
      builder_.CreateICmpSLT(bits, llvm::Constant::getNullValue(bits->getType())),
      [&] { apply(largest ? AtomicRMWInst::UMin : AtomicRMWInst::UMax); },
      [&] { apply(largest ? AtomicRMWInst::Max : AtomicRMWInst::Min); });
}

}  // namespace tulle::codegen
