// Statements: control flow, variables and local arrays.
#include "codegen/stmt_emitter.h"

#include "llvm/IR/MDBuilder.h"

#include "support/check.h"

namespace tulle::codegen {

using loop::ForKind;
using loop::Stmt;
using loop::StmtKind;

namespace {

// "llvm.loop" metadata that requests `copies` copies of the body per step, 0 for complete
// unrolling.
llvm::MDNode* unroll_hint(llvm::LLVMContext& context, int copies) {
  llvm::Metadata* name =
      llvm::MDString::get(context, copies ? "llvm.loop.unroll.count" : "llvm.loop.unroll.full");
  llvm::SmallVector<llvm::Metadata*, 2> hint{name};
  if (copies) {
    llvm::Type* i32 = llvm::Type::getInt32Ty(context);
    hint.push_back(
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32, static_cast<uint64_t>(copies))));
  }
  llvm::MDNode* loop =
      llvm::MDNode::getDistinct(context, {nullptr, llvm::MDNode::get(context, hint)});
  loop->replaceOperandWith(0, loop);
  return loop;
}

}  // namespace

void StmtEmitter::declare(const loop::Declare& stmt) {
  llvm::Value* init = exprs_.value(stmt.init);
  llvm::AllocaInst* slot = function_.stack_slot(init->getType(), stmt.name, llvm::Align(1));
  names_.bind_variable(stmt.name, slot);
  builder_.CreateStore(init, slot);
}

void StmtEmitter::assign(const loop::Assign& stmt) {
  llvm::AllocaInst* slot = names_.variable(stmt.name);
  TULLE_CHECK(slot, "the variable ", stmt.name, " is not declared");
  builder_.CreateStore(exprs_.value(stmt.value), slot);
}

void StmtEmitter::local_array(const loop::Allocate& stmt) {
  const auto* size = stmt.size.as<loop::IntConst>();
  TULLE_CHECK(size && size->value >= 0, "the local buffer ", stmt.buffer->name,
              " has no constant size");
  const llvm::Align align(64);
  const auto count = static_cast<uint64_t>(size->value);
  llvm::Type* element = function_.memory_type_of({stmt.buffer->element, 1});
  llvm::AllocaInst* slot =
      function_.stack_slot(llvm::ArrayType::get(element, count), stmt.buffer->name, align);
  if (stmt.zeroed) {
    const uint64_t bytes = count * static_cast<uint64_t>(size_of(stmt.buffer->element));
    builder_.CreateMemSet(slot, builder_.getInt8(0), bytes, align);
  }
  names_.bind_buffer(*stmt.buffer, slot, false);
}

// Emits a loop with the test at the end and a guard before it, so that invariant code in the body
// can be hoisted.
void StmtEmitter::serial_loop(const loop::For& loop, llvm::Value* begin, llvm::Value* end) {
  llvm::BasicBlock* body = function_.new_block("loop");
  llvm::BasicBlock* after = function_.new_block("after");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, after);
  builder_.SetInsertPoint(body);
  llvm::PHINode* variable = builder_.CreatePHI(builder_.getInt64Ty(), 2, loop.var);
  variable->addIncoming(begin, before);
  names_.bind_value(loop.var, variable);
  statement(loop.body);
  // With a step of one, the next value is at most `end` and does not overflow.
  const bool never_wraps = loop.step == 1;
  llvm::Value* next = builder_.CreateAdd(
      variable, builder_.getInt64(static_cast<uint64_t>(loop.step)), "", false, never_wraps);
  variable->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, after);
  if (loop.loop == ForKind::Unrolled) {
    back->setMetadata(llvm::LLVMContext::MD_loop, unroll_hint(function_.context, loop.factor));
  }
  builder_.SetInsertPoint(after);
}

void StmtEmitter::while_loop(const loop::While& loop) {
  llvm::BasicBlock* body = function_.new_block("while");
  llvm::BasicBlock* after = function_.new_block("after");
  builder_.CreateCondBr(exprs_.value(loop.condition), body, after);
  builder_.SetInsertPoint(body);
  statement(loop.body);
  builder_.CreateCondBr(exprs_.value(loop.condition), body, after);
  builder_.SetInsertPoint(after);
}

void StmtEmitter::statement(const Stmt& stmt) {
  switch (stmt->kind) {
    case StmtKind::Block: {
      const auto* block = stmt.as<loop::Block>();
      for (const Stmt& inner : block->stmts) statement(inner);
      return target_.leave_block(*block);
    }
    case StmtKind::Let: {
      const auto* let = stmt.as<loop::Let>();
      return names_.bind_value(let->name, exprs_.value(let->value));
    }
    case StmtKind::Declare:
      return declare(*stmt.as<loop::Declare>());
    case StmtKind::Assign:
      return assign(*stmt.as<loop::Assign>());
    case StmtKind::Store:
      return memory_.store(*stmt.as<loop::Store>());
    case StmtKind::For: {
      const auto* loop = stmt.as<loop::For>();
      const ForKind kind = loop->loop;
      if (kind != ForKind::Serial && kind != ForKind::Unrolled && kind != ForKind::Vector)
        return target_.bound_loop(*loop);
      llvm::Value* begin = exprs_.value(loop->begin);
      return serial_loop(*loop, begin, exprs_.value(loop->end));
    }
    case StmtKind::While:
      return while_loop(*stmt.as<loop::While>());
    case StmtKind::If: {
      const auto* test = stmt.as<loop::If>();
      return function_.branch(
          exprs_.value(test->condition), [&] { statement(test->yes); },
          [&] {
            if (test->no) statement(test->no);
          });
    }
    case StmtKind::Allocate: {
      const auto* allocate = stmt.as<loop::Allocate>();
      if (allocate->buffer->space == loop::Space::Local) return local_array(*allocate);
      return target_.allocate_elsewhere(*allocate);
    }
    case StmtKind::Atomic:
      return memory_.atomic(*stmt.as<loop::Atomic>());
    case StmtKind::Barrier:
      return target_.barrier(*stmt.as<loop::Barrier>());
    case StmtKind::PrefetchLine:
      return target_.prefetch(*stmt.as<loop::PrefetchLine>());
    case StmtKind::Invoke:
      return target_.invoke(*stmt.as<loop::Invoke>());
  }
  internal_error("unknown kind of statement");
}

}  // namespace tulle::codegen
