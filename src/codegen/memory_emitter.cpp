// Loads, stores and the addresses of atomics.
#include "codegen/memory_emitter.h"

#include "codegen/element_align.h"
#include "codegen/expr_emitter.h"
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

}  // namespace

llvm::Value* MemoryEmitter::address(const BufferNode& buffer, llvm::Value* index, bool in_bounds) {
  const auto flags = in_bounds ? llvm::GEPNoWrapFlags::inBounds() : llvm::GEPNoWrapFlags::none();
  return builder_.CreateGEP(function_.memory_type_of({buffer.element, 1}),
                            names_.pointer_to(buffer), index, "", flags);
}

// Memory that no kernel of the launch writes may be reloaded, or loaded early, or once.
void MemoryEmitter::mark_load(llvm::Instruction* instruction, const BufferNode& buffer) {
  if (!names_.is_read_only(buffer)) return;
  instruction->setMetadata(llvm::LLVMContext::MD_invariant_load,
                           llvm::MDNode::get(function_.context, {}));
}

llvm::Value* MemoryEmitter::load_one(const loop::Load& expr, llvm::Value* index) {
  const loop::Type type = expr.type.with_lanes(1);
  llvm::Value* pointer = address(*expr.buffer, index, true);
  auto* loaded = builder_.CreateAlignedLoad(function_.memory_type_of(type), pointer,
                                            align_of(type.scalar), expr.buffer->name);
  mark_load(loaded, *expr.buffer);
  return function_.from_memory(loaded, type);
}

llvm::Value* MemoryEmitter::load_lanes(const loop::Load& expr, llvm::Value* predicate) {
  const loop::Type type = expr.type;
  llvm::Type* memory = function_.memory_type_of(type);
  const llvm::Align align = align_of(type.scalar);
  const std::string& name = expr.buffer->name;
  llvm::Value* zero = llvm::Constant::getNullValue(memory);
  llvm::Instruction* loaded = nullptr;
  if (const Expr* base = contiguous_base(expr.index)) {
    llvm::Value* pointer = address(*expr.buffer, exprs_.value(*base), !predicate);
    if (predicate) {
      loaded = builder_.CreateMaskedLoad(memory, pointer, align, predicate, zero, name);
    } else {
      loaded = builder_.CreateAlignedLoad(memory, pointer, align, name);
    }
  } else {
    llvm::Value* pointers = address(*expr.buffer, exprs_.value(expr.index), !predicate);
    loaded = builder_.CreateMaskedGather(memory, pointers, align, predicate, zero, name);
  }
  mark_load(loaded, *expr.buffer);
  return function_.from_memory(loaded, type);
}

llvm::Value* MemoryEmitter::load(const loop::Load& expr) {
  llvm::Value* predicate = expr.predicate ? exprs_.value(expr.predicate) : nullptr;
  const auto* uniform = expr.index.as<loop::Broadcast>();
  if (uniform && !predicate) {
    llvm::Value* one = load_one(expr, exprs_.value(uniform->value));
    return builder_.CreateVectorSplat(static_cast<unsigned>(expr.type.lanes), one);
  }
  if (expr.type.is_vector()) return load_lanes(expr, predicate);
  if (!predicate) return load_one(expr, exprs_.value(expr.index));
  llvm::Value* loaded = nullptr;
  llvm::BasicBlock *from_yes = nullptr, *from_no = nullptr;
  function_.branch(
      predicate,
      [&] {
        loaded = load_one(expr, exprs_.value(expr.index));
        from_yes = builder_.GetInsertBlock();
      },
      [&] { from_no = builder_.GetInsertBlock(); });
  llvm::PHINode* result = builder_.CreatePHI(loaded->getType(), 2);
  result->addIncoming(loaded, from_yes);
  result->addIncoming(llvm::Constant::getNullValue(loaded->getType()), from_no);
  return result;
}

void MemoryEmitter::store(const loop::Store& stmt) {
  const loop::Type type = stmt.value.type();
  const llvm::Align align = align_of(type.scalar);
  const auto write = [&](llvm::Value* stored, llvm::Value* pointer) {
    if (stmt.nontemporal) {
      target_.nontemporal_store(stored, pointer, align);
    } else {
      builder_.CreateAlignedStore(stored, pointer, align);
    }
  };
  llvm::Value* stored = function_.to_memory(exprs_.value(stmt.value), type);
  llvm::Value* predicate = stmt.predicate ? exprs_.value(stmt.predicate) : nullptr;
  if (!type.is_vector()) {
    const auto write_one = [&] {
      write(stored, address(*stmt.buffer, exprs_.value(stmt.index), true));
    };
    if (!predicate) return write_one();
    return function_.branch(predicate, write_one, [] {});
  }
  if (const Expr* base = contiguous_base(stmt.index)) {
    llvm::Value* pointer = address(*stmt.buffer, exprs_.value(*base), !predicate);
    if (!predicate) return write(stored, pointer);
    builder_.CreateMaskedStore(stored, pointer, align, predicate);
    return;
  }
  llvm::Value* pointers = address(*stmt.buffer, exprs_.value(stmt.index), !predicate);
  builder_.CreateMaskedScatter(stored, pointers, align, predicate);
}

void MemoryEmitter::atomic(const loop::Atomic& stmt) {
  const loop::Type type = stmt.value.type();
  const bool bitwise = stmt.op == ReduceOp::And || stmt.op == ReduceOp::Or;
  TULLE_CHECK(!(bitwise && type.is_float()), "atomic ", loop::text_of(stmt.op), " of ",
              to_string(type));
  llvm::Value* operand = function_.to_memory(exprs_.value(stmt.value), type);
  const Expr& first = type.is_vector() ? stmt.index.as<loop::Ramp>()->base : stmt.index;
  llvm::Value* pointer = address(*stmt.buffer, exprs_.value(first), true);
  llvm::Value* old = atomics_.update(stmt, pointer, operand);
  if (!stmt.result.empty()) names_.bind_value(stmt.result, function_.from_memory(old, type));
}

}  // namespace tulle::codegen
