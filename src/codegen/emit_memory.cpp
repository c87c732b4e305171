// Loads, stores and atomics.
#include "llvm/IR/Intrinsics.h"

#include "codegen/llvm_emitter.h"
#include "support/check.h"

namespace tulle::codegen {

using loop::BufferNode;
using loop::Expr;
using loop::ReduceOp;

namespace {

// The first index of a contiguous vector; null for any other index.
const Expr* contiguous_base(const Expr& index) {
  const auto* ramp = index.as<loop::Ramp>();
  return ramp && loop::is_constant(ramp->stride, 1) ? &ramp->base : nullptr;
}

llvm::Align align_of(DType element) { return llvm::Align(static_cast<uint64_t>(size_of(element))); }

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

}  // namespace

llvm::Value* LlvmEmitter::address(const BufferNode& buffer, llvm::Value* index, bool in_bounds) {
  const auto flags = in_bounds ? llvm::GEPNoWrapFlags::inBounds() : llvm::GEPNoWrapFlags::none();
  return builder_.CreateGEP(memory_type_of({buffer.element, 1}), pointer_to(buffer), index, "",
                            flags);
}

// Memory that no kernel of the launch writes may be reloaded, or loaded early, or once.
void LlvmEmitter::mark_load(llvm::Instruction* instruction, const BufferNode& buffer) {
  if (!buffers_.at(buffer.name).read_only) return;
  instruction->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
}

llvm::Value* LlvmEmitter::load_one(const loop::Load& expr, llvm::Value* index) {
  const loop::Type type = expr.type.with_lanes(1);
  llvm::Value* pointer = address(*expr.buffer, index, true);
  auto* loaded = builder_.CreateAlignedLoad(memory_type_of(type), pointer, align_of(type.scalar),
                                            expr.buffer->name);
  mark_load(loaded, *expr.buffer);
  return from_memory(loaded, type);
}

llvm::Value* LlvmEmitter::load_lanes(const loop::Load& expr, llvm::Value* predicate) {
  const loop::Type type = expr.type;
  llvm::Type* memory = memory_type_of(type);
  const llvm::Align align = align_of(type.scalar);
  const std::string& name = expr.buffer->name;
  llvm::Value* zero = llvm::Constant::getNullValue(memory);
  llvm::Instruction* loaded = nullptr;
  if (const Expr* base = contiguous_base(expr.index)) {
    llvm::Value* pointer = address(*expr.buffer, value(*base), !predicate);
    if (predicate) {
      loaded = builder_.CreateMaskedLoad(memory, pointer, align, predicate, zero, name);
    } else {
      loaded = builder_.CreateAlignedLoad(memory, pointer, align, name);
    }
  } else {
    llvm::Value* pointers = address(*expr.buffer, value(expr.index), !predicate);
    loaded = builder_.CreateMaskedGather(memory, pointers, align, predicate, zero, name);
  }
  mark_load(loaded, *expr.buffer);
  return from_memory(loaded, type);
}

llvm::Value* LlvmEmitter::load(const loop::Load& expr) {
  llvm::Value* predicate = expr.predicate ? value(expr.predicate) : nullptr;
  const auto* uniform = expr.index.as<loop::Broadcast>();
  if (uniform && !predicate) {
    llvm::Value* one = load_one(expr, value(uniform->value));
    return builder_.CreateVectorSplat(static_cast<unsigned>(expr.type.lanes), one);
  }
  if (expr.type.is_vector()) return load_lanes(expr, predicate);
  if (!predicate) return load_one(expr, value(expr.index));
  llvm::Value* loaded = nullptr;
  llvm::BasicBlock *from_yes = nullptr, *from_no = nullptr;
  branch(
      predicate,
      [&] {
        loaded = load_one(expr, value(expr.index));
        from_yes = builder_.GetInsertBlock();
      },
      [&] { from_no = builder_.GetInsertBlock(); });
  llvm::PHINode* result = builder_.CreatePHI(loaded->getType(), 2);
  result->addIncoming(loaded, from_yes);
  result->addIncoming(llvm::Constant::getNullValue(loaded->getType()), from_no);
  return result;
}

void LlvmEmitter::store(const loop::Store& stmt) {
  const loop::Type type = stmt.value.type();
  const llvm::Align align = align_of(type.scalar);
  const auto write = [&](llvm::Value* stored, llvm::Value* pointer) {
    if (stmt.nontemporal) {
      nontemporal_store(stored, pointer, align);
    } else {
      builder_.CreateAlignedStore(stored, pointer, align);
    }
  };
  llvm::Value* stored = to_memory(value(stmt.value), type);
  llvm::Value* predicate = stmt.predicate ? value(stmt.predicate) : nullptr;
  if (!type.is_vector()) {
    const auto write_one = [&] { write(stored, address(*stmt.buffer, value(stmt.index), true)); };
    if (!predicate) return write_one();
    return branch(predicate, write_one, [] {});
  }
  if (const Expr* base = contiguous_base(stmt.index)) {
    llvm::Value* pointer = address(*stmt.buffer, value(*base), !predicate);
    if (!predicate) return write(stored, pointer);
    builder_.CreateMaskedStore(stored, pointer, align, predicate);
    return;
  }
  llvm::Value* pointers = address(*stmt.buffer, value(stmt.index), !predicate);
  builder_.CreateMaskedScatter(stored, pointers, align, predicate);
}

// Retries until no other thread interferes.
llvm::Value* LlvmEmitter::compare_exchange(ReduceOp op, const loop::BufferNode& buffer,
                                           loop::Type type, llvm::Value* pointer,
                                           llvm::Value* operand) {
  llvm::Type* memory = memory_type_of(type);
  llvm::Type* bits = builder_.getIntNTy(memory->getScalarSizeInBits());
  const llvm::Align align = align_of(type.scalar);
  const auto relaxed = llvm::AtomicOrdering::Monotonic;
  const llvm::SyncScope::ID scope = atomic_scope(buffer);
  llvm::LoadInst* first = builder_.CreateAlignedLoad(bits, pointer, align);
  first->setAtomic(relaxed, scope);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* again = new_block("try");
  llvm::BasicBlock* done = new_block("done");
  builder_.CreateBr(again);
  builder_.SetInsertPoint(again);
  llvm::PHINode* old = builder_.CreatePHI(bits, 2);
  old->addIncoming(first, before);
  llvm::Value* updated = combine(op, builder_.CreateBitCast(old, memory), operand, type);
  llvm::Value* exchange = builder_.CreateAtomicCmpXchg(
      pointer, old, builder_.CreateBitCast(updated, bits), align, relaxed, relaxed, scope);
  old->addIncoming(builder_.CreateExtractValue(exchange, 0), again);
  builder_.CreateCondBr(builder_.CreateExtractValue(exchange, 1), done, again);
  builder_.SetInsertPoint(done);
  return builder_.CreateBitCast(old, memory);
}

// Nonnegative numbers are ordered like their bits; negative ones precede them in the reverse order
// of theirs. A NaN is kept: it gets the sign with which its bits win.
void LlvmEmitter::atomic_extreme(ReduceOp op, const loop::BufferNode& buffer, loop::Type type,
                                 llvm::Value* pointer, llvm::Value* operand) {
  using llvm::AtomicRMWInst;
  const bool largest = op == ReduceOp::Max;
  llvm::Type* number = operand->getType();
  llvm::Value* nan = llvm::ConstantFP::getQNaN(number, !largest);
  llvm::Value* kept = builder_.CreateSelect(builder_.CreateFCmpUNO(operand, operand), nan, operand);
  llvm::Value* bits =
      builder_.CreateBitCast(kept, builder_.getIntNTy(number->getScalarSizeInBits()));
  const auto apply = [&](AtomicRMWInst::BinOp instruction) {
    builder_.CreateAtomicRMW(instruction, pointer, bits, align_of(type.scalar),
                             llvm::AtomicOrdering::Monotonic, atomic_scope(buffer));
  };
  branch(
      builder_.CreateICmpSLT(bits, llvm::Constant::getNullValue(bits->getType())),
      [&] { apply(largest ? AtomicRMWInst::UMin : AtomicRMWInst::UMax); },
      [&] { apply(largest ? AtomicRMWInst::Max : AtomicRMWInst::Min); });
}

void LlvmEmitter::atomic_elements(const loop::Atomic& stmt, llvm::Value* pointer,
                                  llvm::Value* elements) {
  const loop::Type type = stmt.value.type().with_lanes(1);
  for (int lane = 0; lane < stmt.value.type().lanes; ++lane) {
    const auto number = static_cast<uint64_t>(lane);
    llvm::Value* at = builder_.CreateConstGEP1_64(memory_type_of(type), pointer, number);
    llvm::Value* element = builder_.CreateExtractElement(elements, number);
    if (is_extreme(stmt)) {
      atomic_extreme(stmt.op, *stmt.buffer, type, at, element);
    } else {
      atomic_element(stmt.op, *stmt.buffer, type, at, element);
    }
  }
}

llvm::Value* LlvmEmitter::atomic_element(ReduceOp op, const loop::BufferNode& buffer,
                                         loop::Type type, llvm::Value* pointer,
                                         llvm::Value* operand) {
  if (const auto instruction = atomic_instruction(op, type.scalar)) {
    return builder_.CreateAtomicRMW(*instruction, pointer, operand, align_of(type.scalar),
                                    llvm::AtomicOrdering::Monotonic, atomic_scope(buffer));
  }
  return compare_exchange(op, buffer, type, pointer, operand);
}

void LlvmEmitter::atomic(const loop::Atomic& stmt) {
  const loop::Type type = stmt.value.type();
  const bool bitwise = stmt.op == ReduceOp::And || stmt.op == ReduceOp::Or;
  TULLE_CHECK(!(bitwise && type.is_float()), "atomic ", loop::text_of(stmt.op), " of ",
              to_string(type));
  llvm::Value* operand = to_memory(value(stmt.value), type);
  if (type.is_vector()) {
    const Expr first = stmt.index.as<loop::Ramp>()->base;
    return atomic_elements(stmt, address(*stmt.buffer, value(first), true), operand);
  }
  llvm::Value* pointer = address(*stmt.buffer, value(stmt.index), true);
  if (is_extreme(stmt)) return atomic_extreme(stmt.op, *stmt.buffer, type, pointer, operand);
  llvm::Value* old = atomic_element(stmt.op, *stmt.buffer, type, pointer, operand);
  if (!stmt.result.empty()) bind_value(stmt.result, from_memory(old, type));
}

}  // namespace tulle::codegen
