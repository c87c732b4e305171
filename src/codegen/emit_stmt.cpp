// Statements: control flow, variables and local arrays.
#include "llvm/IR/MDBuilder.h"

#include "codegen/llvm_emitter.h"
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

LlvmEmitter::LlvmEmitter(llvm::Module& module)
    : module_(module), context_(module.getContext()), builder_(context_) {}

llvm::Function* LlvmEmitter::current_function() { return builder_.GetInsertBlock()->getParent(); }

llvm::BasicBlock* LlvmEmitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, current_function());
}

llvm::BasicBlock* LlvmEmitter::begin_function(llvm::Function* function) {
  values_.clear();
  variables_.clear();
  buffers_.clear();
  entry_ = llvm::BasicBlock::Create(context_, "entry", function);
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context_, "body", function);
  builder_.SetInsertPoint(entry_);
  builder_.CreateBr(body);
  builder_.SetInsertPoint(body);
  return body;
}

llvm::AllocaInst* LlvmEmitter::stack_slot(llvm::Type* type, const std::string& name,
                                          llvm::Align align) {
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(entry_->getTerminator());
  llvm::AllocaInst* slot = builder_.CreateAlloca(type, nullptr, name);
  slot->setAlignment(std::max(align, slot->getAlign()));
  return slot;
}

void LlvmEmitter::bind_value(const std::string& name, llvm::Value* value) {
  variables_.erase(name);
  values_[name] = value;
}

void LlvmEmitter::bind_buffer(const loop::BufferNode& buffer, llvm::Value* pointer,
                              bool read_only) {
  buffers_[buffer.name] = {pointer, read_only};
}

llvm::Value* LlvmEmitter::pointer_to(const loop::BufferNode& buffer) const {
  const auto found = buffers_.find(buffer.name);
  TULLE_CHECK(found != buffers_.end(), "the buffer ", buffer.name,
              " is neither a parameter nor allocated");
  return found->second.pointer;
}

void LlvmEmitter::declare(const loop::Declare& stmt) {
  llvm::Value* init = value(stmt.init);
  llvm::AllocaInst* slot = stack_slot(init->getType(), stmt.name, llvm::Align(1));
  values_.erase(stmt.name);
  variables_[stmt.name] = slot;
  builder_.CreateStore(init, slot);
}

void LlvmEmitter::local_array(const loop::Allocate& stmt) {
  const auto* size = stmt.size.as<loop::IntConst>();
  TULLE_CHECK(size && size->value >= 0, "the local buffer ", stmt.buffer->name,
              " has no constant size");
  const llvm::Align align(64);
  const auto count = static_cast<uint64_t>(size->value);
  llvm::Type* element = memory_type_of({stmt.buffer->element, 1});
  llvm::AllocaInst* slot =
      stack_slot(llvm::ArrayType::get(element, count), stmt.buffer->name, align);
  if (stmt.zeroed) {
    const uint64_t bytes = count * static_cast<uint64_t>(size_of(stmt.buffer->element));
    builder_.CreateMemSet(slot, builder_.getInt8(0), bytes, align);
  }
  bind_buffer(*stmt.buffer, slot, false);
}

// Emits a loop with the test at the end and a guard before it, so that invariant code in the body
// can be hoisted.
void LlvmEmitter::serial_loop(const loop::For& loop, llvm::Value* begin, llvm::Value* end) {
  llvm::BasicBlock* body = new_block("loop");
  llvm::BasicBlock* after = new_block("after");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, after);
  builder_.SetInsertPoint(body);
  llvm::PHINode* variable = builder_.CreatePHI(builder_.getInt64Ty(), 2, loop.var);
  variable->addIncoming(begin, before);
  bind_value(loop.var, variable);
  statement(loop.body);
  // With a step of one, the next value is at most `end` and does not overflow.
  const bool never_wraps = loop.step == 1;
  llvm::Value* next = builder_.CreateAdd(
      variable, builder_.getInt64(static_cast<uint64_t>(loop.step)), "", false, never_wraps);
  variable->addIncoming(next, builder_.GetInsertBlock());
  llvm::BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, after);
  if (loop.loop == ForKind::Unrolled) {
    back->setMetadata(llvm::LLVMContext::MD_loop, unroll_hint(context_, loop.factor));
  }
  builder_.SetInsertPoint(after);
}

void LlvmEmitter::while_loop(const loop::While& loop) {
  llvm::BasicBlock* body = new_block("while");
  llvm::BasicBlock* after = new_block("after");
  builder_.CreateCondBr(value(loop.condition), body, after);
  builder_.SetInsertPoint(body);
  statement(loop.body);
  builder_.CreateCondBr(value(loop.condition), body, after);
  builder_.SetInsertPoint(after);
}

void LlvmEmitter::statement(const Stmt& stmt) {
  switch (stmt->kind) {
    case StmtKind::Block: {
      const auto* block = stmt.as<loop::Block>();
      for (const Stmt& inner : block->stmts) statement(inner);
      return leave_block(*block);
    }
    case StmtKind::Let: {
      const auto* let = stmt.as<loop::Let>();
      return bind_value(let->name, value(let->value));
    }
    case StmtKind::Declare:
      return declare(*stmt.as<loop::Declare>());
    case StmtKind::Assign: {
      const auto* assign = stmt.as<loop::Assign>();
      const auto slot = variables_.find(assign->name);
      TULLE_CHECK(slot != variables_.end(), "the variable ", assign->name, " is not declared");
      llvm::Value* assigned = value(assign->value);
      builder_.CreateStore(assigned, slot->second);
      return;
    }
    case StmtKind::Store:
      return store(*stmt.as<loop::Store>());
    case StmtKind::For: {
      const auto* loop = stmt.as<loop::For>();
      const ForKind kind = loop->loop;
      if (kind != ForKind::Serial && kind != ForKind::Unrolled && kind != ForKind::Vector)
        return bound_loop(*loop);
      llvm::Value* begin = value(loop->begin);
      return serial_loop(*loop, begin, value(loop->end));
    }
    case StmtKind::While:
      return while_loop(*stmt.as<loop::While>());
    case StmtKind::If: {
      const auto* test = stmt.as<loop::If>();
      return branch(
          value(test->condition), [&] { statement(test->yes); },
          [&] {
            if (test->no) statement(test->no);
          });
    }
    case StmtKind::Allocate: {
      const auto* allocate = stmt.as<loop::Allocate>();
      if (allocate->buffer->space == loop::Space::Local) return local_array(*allocate);
      return allocate_elsewhere(*allocate);
    }
    case StmtKind::Atomic:
      return atomic(*stmt.as<loop::Atomic>());
    case StmtKind::Barrier:
      return barrier(*stmt.as<loop::Barrier>());
    case StmtKind::PrefetchLine:
      return prefetch(*stmt.as<loop::PrefetchLine>());
    case StmtKind::Invoke:
      return invoke(*stmt.as<loop::Invoke>());
  }
  internal_error("unknown kind of statement");
}

}  // namespace tulle::codegen
