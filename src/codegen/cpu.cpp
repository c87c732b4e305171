// Kernels for the CPU: entry points, ranges of the parallel loop, workspaces and runtime calls.
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include "codegen/emit.h"
#include "codegen/library.h"
#include "codegen/llvm_emitter.h"
#include "codegen/parts.h"
#include "loop/abi.h"
#include "support/check.h"

namespace tulle::codegen {

using loop::ForKind;

namespace {

class CpuEmitter final : public LlvmEmitter {
 public:
  CpuEmitter(llvm::Module& module, const Target& target)
      : LlvmEmitter(module), target_(target), is_x86_(llvm::Triple(target.triple).isX86()) {}

  void kernel(const loop::Kernel& kernel);

 protected:
  void bound_loop(const loop::For& loop) override;
  void allocate_elsewhere(const loop::Allocate& stmt) override;
  void leave_block(const loop::Block& block) override;
  void invoke(const loop::Invoke& stmt) override;
  void nontemporal_store(llvm::Value* value, llvm::Value* pointer, llvm::Align align) override;
  llvm::Value* library_call(loop::Function function, llvm::Value* scalar) override;
  void prefetch(const loop::PrefetchLine& stmt) override;
  bool converts(DType half) const override {
    if (half == DType::BFloat16)
      return false;  // the hardware's conversions flush subnormal numbers to 0
    return !is_x86_ || machine_for(target_).getMCSubtargetInfo()->checkFeatures("+f16c");
  }
  void barrier(const loop::Barrier&) override { internal_error("a barrier in a CPU kernel"); }
  llvm::Value* lane_reduce(const loop::LaneReduce&) override {
    internal_error("a reduction over GPU lanes in a CPU kernel");
  }
  llvm::Value* lane_shuffle(const loop::LaneShuffle&) override {
    internal_error("a shuffle of GPU lanes in a CPU kernel");
  }

 private:
  llvm::Function* declare_entry(const loop::Kernel& kernel);
  llvm::Function* declare_body(const loop::Kernel& kernel);
  void emit_entry(const loop::Kernel& kernel, llvm::Function* entry, llvm::Function* body);
  void emit_body(const loop::Kernel& kernel, llvm::Function* body);
  void set_attributes(llvm::Function* function);
  void release(llvm::Value* workspace);
  void leave_kernel(loop::KernelStatus status);
  llvm::FunctionCallee imported(const std::string& name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Type*> arguments);

  const Target& target_;
  const bool is_x86_;
  llvm::Value* worker_ = nullptr;
  llvm::Value* range_begin_ = nullptr;
  llvm::Value* range_end_ = nullptr;
  std::vector<llvm::Value*> workspaces_;  // allocated and not yet released, in order of allocation
  int parallel_loops_ = 0;
  bool stores_nontemporal_ = false;
};

llvm::FunctionCallee CpuEmitter::imported(const std::string& name, llvm::Type* result,
                                          llvm::ArrayRef<llvm::Type*> arguments) {
  llvm::FunctionCallee callee =
      module_.getOrInsertFunction(name, llvm::FunctionType::get(result, arguments, false));
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  return callee;
}

void CpuEmitter::set_attributes(llvm::Function* function) {
  function->setDoesNotThrow();
  function->addFnAttr("target-cpu", target_.cpu);
  function->addFnAttr("target-features", target_.features);
  // The vector width is fixed in the loop IR. Keeps the back end from halving vectors where it
  // considers narrow ones faster.
  function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr("min-legal-vector-width", "512");
}

// status name(worker, buffers, scalars, begin, end)
llvm::Function* CpuEmitter::declare_entry(const loop::Kernel& kernel) {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* i64 = builder_.getInt64Ty();
  auto* type =
      llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer, pointer, i64, i64}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel.name, module_);
  set_attributes(entry);
  return entry;
}

// status name.body(worker, buffer..., scalar..., begin, end): only parameters can be declared
// noalias.
llvm::Function* CpuEmitter::declare_body(const loop::Kernel& kernel) {
  std::vector<llvm::Type*> types{builder_.getPtrTy()};
  types.resize(1 + kernel.buffers.size(), builder_.getPtrTy());
  for (const loop::ScalarParam& scalar : kernel.scalars)
    types.push_back(function_.type_of(scalar.type));
  types.resize(types.size() + 2, builder_.getInt64Ty());
  auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), types, false);
  auto* body =
      llvm::Function::Create(type, llvm::Function::InternalLinkage, kernel.name + ".body", module_);
  set_attributes(body);
  body->addFnAttr(llvm::Attribute::NoInline);
  body->getArg(0)->setName("worker");
  unsigned next = 1;
  for (const loop::BufferParam& buffer : kernel.buffers) {
    body->addParamAttr(next, llvm::Attribute::NoAlias);
    if (buffer.writable)
      body->addParamAttr(
          next, llvm::Attribute::getWithAlignment(context_, llvm::Align(loop::kWrittenAlignment)));
    else
      body->addParamAttr(next, llvm::Attribute::ReadOnly);
    body->getArg(next++)->setName(buffer.buffer->name);
  }
  for (const loop::ScalarParam& scalar : kernel.scalars) body->getArg(next++)->setName(scalar.name);
  body->getArg(next)->setName("begin");
  body->getArg(next + 1)->setName("end");
  return body;
}

void CpuEmitter::emit_entry(const loop::Kernel& kernel, llvm::Function* entry,
                            llvm::Function* body) {
  begin_function(entry);
  std::vector<llvm::Value*> arguments{entry->getArg(0)};
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* slot = builder_.getInt64Ty();
  for (unsigned i = 0; i < kernel.buffers.size(); ++i) {
    arguments.push_back(
        builder_.CreateLoad(pointer, builder_.CreateConstGEP1_64(pointer, entry->getArg(1), i)));
  }
  for (unsigned i = 0; i < kernel.scalars.size(); ++i) {
    llvm::Type* type = function_.type_of(kernel.scalars[i].type);
    llvm::Value* bits =
        builder_.CreateLoad(slot, builder_.CreateConstGEP1_64(slot, entry->getArg(2), i));
    llvm::Value* low = builder_.CreateTrunc(bits, builder_.getIntNTy(type->getScalarSizeInBits()));
    arguments.push_back(builder_.CreateBitCast(low, type));
  }
  arguments.push_back(entry->getArg(3));
  arguments.push_back(entry->getArg(4));
  builder_.CreateRet(builder_.CreateCall(body, arguments));
}

void CpuEmitter::emit_body(const loop::Kernel& kernel, llvm::Function* body) {
  begin_function(body);
  workspaces_.clear();
  parallel_loops_ = 0;
  stores_nontemporal_ = false;
  worker_ = body->getArg(0);
  unsigned next = 1;
  for (const loop::BufferParam& buffer : kernel.buffers) {
    names_.bind_buffer(*buffer.buffer, body->getArg(next++), !buffer.writable);
  }
  for (const loop::ScalarParam& scalar : kernel.scalars)
    names_.bind_value(scalar.name, body->getArg(next++));
  range_begin_ = body->getArg(next);
  range_end_ = body->getArg(next + 1);
  stmts_.statement(kernel.body);
  // Nontemporal stores are weakly ordered. The fence makes them visible to code that waits for the
  // kernel.
  if (stores_nontemporal_ && is_x86_) {
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
  } else if (stores_nontemporal_) {
    builder_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  }
  leave_kernel(loop::kKernelOk);
}

void CpuEmitter::kernel(const loop::Kernel& kernel) {
  TULLE_CHECK(!module_.getFunction(kernel.name), "two kernels named ", kernel.name);
  llvm::Function* entry = declare_entry(kernel);
  llvm::Function* body = declare_body(kernel);
  emit_entry(kernel, entry, body);
  emit_body(kernel, body);
  for (llvm::Function* function : {entry, body}) {
    std::string problem;
    llvm::raw_string_ostream out(problem);
    if (llvm::verifyFunction(*function, &out)) {
      internal_error("invalid LLVM IR for the kernel ", kernel.name, ": ", problem);
    }
  }
}

void CpuEmitter::bound_loop(const loop::For& loop) {
  if (loop.loop != ForKind::Parallel) {
    internal_error("the loop over ", loop.var, " is bound to a GPU ", loop::text_of(loop.loop),
                   " in a CPU kernel");
  }
  TULLE_CHECK(++parallel_loops_ == 1, "a second parallel loop, over ", loop.var);
  stmts_.serial_loop(loop, range_begin_, range_end_);
}

void CpuEmitter::allocate_elsewhere(const loop::Allocate& stmt) {
  const loop::BufferNode& buffer = *stmt.buffer;
  TULLE_CHECK(buffer.space == loop::Space::Workspace, "a ", loop::text_of(buffer.space),
              " buffer in a CPU kernel: ", buffer.name);
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::FunctionCallee allocate = imported("tulle_workspace_allocate", pointer,
                                           {pointer, builder_.getInt64Ty(), builder_.getInt1Ty()});
  auto* callee = llvm::cast<llvm::Function>(allocate.getCallee());
  callee->addRetAttr(llvm::Attribute::NoAlias);
  callee->addParamAttr(2, llvm::Attribute::ZExt);
  llvm::Value* bytes = builder_.CreateMul(
      exprs_.value(stmt.size), builder_.getInt64(static_cast<uint64_t>(size_of(buffer.element))));
  llvm::Value* memory =
      builder_.CreateCall(allocate, {worker_, bytes, builder_.getInt1(stmt.zeroed)}, buffer.name);
  llvm::BasicBlock* failed = function_.new_block("out_of_memory");
  llvm::BasicBlock* ok = function_.new_block("allocated");
  builder_.CreateCondBr(builder_.CreateIsNull(memory), failed, ok);
  builder_.SetInsertPoint(failed);
  leave_kernel(loop::kKernelOutOfMemory);
  builder_.SetInsertPoint(ok);
  workspaces_.push_back(memory);
  names_.bind_buffer(buffer, memory, false);
}

void CpuEmitter::release(llvm::Value* workspace) {
  llvm::Type* pointer = builder_.getPtrTy();
  builder_.CreateCall(imported("tulle_workspace_release", builder_.getVoidTy(), {pointer, pointer}),
                      {worker_, workspace});
}

void CpuEmitter::leave_block(const loop::Block& block) {
  for (const loop::Stmt& stmt : block.stmts) {
    const auto* allocate = stmt.as<loop::Allocate>();
    if (!allocate || allocate->buffer->space != loop::Space::Workspace) continue;
    release(workspaces_.back());
    workspaces_.pop_back();
  }
}

// Returns from the kernel. Code emitted afterwards needs a new block.
void CpuEmitter::leave_kernel(loop::KernelStatus status) {
  for (size_t i = workspaces_.size(); i-- > 0;) release(workspaces_[i]);
  builder_.CreateRet(builder_.getInt32(static_cast<uint32_t>(status)));
}

void CpuEmitter::invoke(const loop::Invoke& stmt) {
  const loop::BufferNode& buffer = *stmt.buffer;
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* i64 = builder_.getInt64Ty();
  TULLE_CHECK(stmt.args.size() == 2, "the arguments of ", loop::text_of(stmt.function));
  switch (stmt.function) {
    case loop::RuntimeFunction::Sort: {
      TULLE_CHECK(is_integer(buffer.element), "a sort of ", name_of(buffer.element));
      const char* name = buffer.element == DType::Int32 ? "tulle_sort_i32" : "tulle_sort_i64";
      const auto sort = imported(name, builder_.getVoidTy(), {pointer, pointer});
      llvm::Value* begin = memory_.address(buffer, exprs_.value(stmt.args[0]), true);
      llvm::Value* end = memory_.address(buffer, exprs_.value(stmt.args[1]), true);
      builder_.CreateCall(sort, {begin, end});
      return;
    }
    case loop::RuntimeFunction::ReportOutOfBounds: {
      const auto report = imported("tulle_report_out_of_bounds", builder_.getVoidTy(),
                                   {pointer, pointer, i64, i64});
      llvm::Value* name = builder_.CreateGlobalString(buffer.name, "name." + buffer.name);
      builder_.CreateCall(report,
                          {worker_, name, exprs_.value(stmt.args[0]), exprs_.value(stmt.args[1])});
      leave_kernel(loop::kKernelOutOfBounds);
      builder_.SetInsertPoint(function_.new_block("never"));
      return;
    }
  }
  internal_error("unknown runtime function");
}

// The instruction requires the vector's natural alignment; an unaligned address takes an ordinary
// store. If the position in the buffer determines the alignment, the optimiser removes the check.
void CpuEmitter::nontemporal_store(llvm::Value* value, llvm::Value* pointer, llvm::Align align) {
  const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(value->getType());
  const llvm::Align natural = std::max(align, llvm::Align(llvm::bit_floor(bytes)));
  const auto store_streaming = [&] {
    llvm::StoreInst* store = builder_.CreateAlignedStore(value, pointer, natural);
    llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, one));
  };
  stores_nontemporal_ = true;
  if (natural == align) return store_streaming();
  llvm::Value* bits = builder_.CreatePtrToInt(pointer, builder_.getInt64Ty());
  llvm::Value* misaligned = builder_.CreateAnd(bits, builder_.getInt64(natural.value() - 1));
  function_.branch(builder_.CreateIsNull(misaligned), store_streaming,
                   [&] { builder_.CreateAlignedStore(value, pointer, align); });
}

void CpuEmitter::prefetch(const loop::PrefetchLine& stmt) {
  llvm::Value* pointer = memory_.address(*stmt.buffer, exprs_.value(stmt.index), false);
  const auto number = [&](int n) { return builder_.getInt32(static_cast<uint32_t>(n)); };
  const int read = 0, data = 1;
  const int closeness = 4 - stmt.locality;  // LLVM counts down: 3 is the first-level cache
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                           {pointer, number(read), number(closeness), number(data)});
}

llvm::Value* CpuEmitter::library_call(loop::Function function, llvm::Value* scalar) {
  llvm::Type* type = scalar->getType();
  const bool is_double = type->isDoubleTy();
  llvm::Type* computed = is_double ? type : builder_.getFloatTy();
  llvm::FunctionCallee callee = imported(library_name(function, is_double), computed, {computed});
  auto* pure = llvm::cast<llvm::Function>(callee.getCallee());
  pure->setDoesNotAccessMemory();
  pure->addFnAttr(llvm::Attribute::WillReturn);
  llvm::Value* result = builder_.CreateCall(callee, {builder_.CreateFPExt(scalar, computed)});
  return builder_.CreateFPTrunc(result, type);
}

}  // namespace

Module emit_cpu(const std::vector<loop::Kernel>& kernels, const Target& target) {
  auto parts = make_parts(target);
  CpuEmitter emitter(*parts->module, parts->target);
  for (const loop::Kernel& kernel : kernels) emitter.kernel(kernel);
  return Module(std::move(parts));
}

}  // namespace tulle::codegen
