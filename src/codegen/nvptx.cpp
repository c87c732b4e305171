// Kernels for NVIDIA GPUs: entry points, loops bound to blocks and threads, shared memory, barriers
// and lane operations.
#include <algorithm>

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include "codegen/emit.h"
#include "codegen/llvm_emitter.h"
#include "codegen/parts.h"
#include "loop/abi.h"
#include "loop/gpu.h"
#include "support/check.h"

namespace tulle::codegen {

using loop::ForKind;
using loop::ShuffleMode;

namespace {

constexpr unsigned kGlobalSpace = 1;
constexpr unsigned kSharedSpace = 3;
constexpr int kResidentThreads = 512;       // a multiprocessor has registers for at least this many
constexpr int kResidentBlocks = 16;         // every multiprocessor can hold this many
constexpr int64_t kMostBlocks = INT32_MAX;  // per launch

class GpuEmitter final : public LlvmEmitter {
 public:
  GpuEmitter(llvm::Module& module, const Target& target) : LlvmEmitter(module), target_(target) {}

  void kernel(const loop::Kernel& kernel);

 protected:
  void bound_loop(const loop::For& loop) override;
  void allocate_elsewhere(const loop::Allocate& stmt) override;
  void leave_block(const loop::Block&) override {}
  void barrier(const loop::Barrier& stmt) override;
  void invoke(const loop::Invoke& stmt) override;
  void nontemporal_store(llvm::Value* value, llvm::Value* pointer, llvm::Align align) override;
  llvm::Value* lane_reduce(const loop::LaneReduce& expr) override;
  llvm::Value* lane_shuffle(const loop::LaneShuffle& expr) override;
  llvm::Value* library_call(loop::Function function, llvm::Value* scalar) override;
  void prefetch(const loop::PrefetchLine&) override {}  // threads hide latency
  bool converts(DType) const override { return true; }
  llvm::SyncScope::ID atomic_scope(const loop::BufferNode& buffer) override;
  bool atomic_vector(const loop::Atomic& stmt, llvm::Value* pointer,
                     llvm::Value* elements) override;

 private:
  llvm::Function* declare(const loop::Kernel& kernel);
  llvm::Value* special_register(llvm::Intrinsic::ID id, int64_t end);
  llvm::Value* shared_memory(const loop::Allocate& stmt);
  void zero_shared(const loop::Allocate& stmt);
  void block_barrier();
  void add_floats(llvm::Value* pointer, llvm::Value* elements, int first, int lanes);
  llvm::Value* group_mask(int width);
  llvm::Value* shuffle(ShuffleMode mode, llvm::Value* value, llvm::Value* lane, int width);
  llvm::Value* shuffle_word(ShuffleMode mode, llvm::Value* word, llvm::Value* lane, int width);

  const Target& target_;
  int threads_ = 1;
  bool dynamic_shared_ = false;
  int64_t shared_used_ = 0;  // bytes of dynamic shared memory
};

llvm::Function* GpuEmitter::declare(const loop::Kernel& kernel) {
  std::vector<llvm::Type*> types(kernel.buffers.size(), builder_.getPtrTy(kGlobalSpace));
  for (const loop::ScalarParam& scalar : kernel.scalars)
    types.push_back(function_.type_of(scalar.type));
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                       entry_name(kernel.name), module_);
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  entry->setDoesNotThrow();
  entry->addFnAttr("target-cpu", target_.cpu);
  entry->addFnAttr("target-features", target_.features);
  entry->addFnAttr("nvvm.reqntid", concat(threads_, ",1,1"));
  // Without this hint ptxas saves registers and keeps fewer loads in flight.
  entry->addFnAttr("nvvm.minctasm",
                   concat(std::clamp(kResidentThreads / threads_, 1, kResidentBlocks)));
  unsigned next = 0;
  for (const loop::BufferParam& buffer : kernel.buffers) {
    entry->addParamAttr(next, llvm::Attribute::NoAlias);
    entry->addParamAttr(
        next, llvm::Attribute::getWithAlignment(context_, llvm::Align(loop::kDeviceAlignment)));
    if (!buffer.writable) entry->addParamAttr(next, llvm::Attribute::ReadOnly);
    entry->getArg(next++)->setName(buffer.buffer->name);
  }
  for (const loop::ScalarParam& scalar : kernel.scalars)
    entry->getArg(next++)->setName(scalar.name);
  return entry;
}

void GpuEmitter::kernel(const loop::Kernel& kernel) {
  TULLE_CHECK(!module_.getFunction(entry_name(kernel.name)), "two kernels named ", kernel.name);
  threads_ = loop::launched_threads(kernel.body);
  dynamic_shared_ = loop::shared_bytes(kernel.body) > loop::kStaticShared;
  shared_used_ = 0;
  llvm::Function* entry = declare(kernel);
  begin_function(entry);
  unsigned next = 0;
  for (const loop::BufferParam& buffer : kernel.buffers) {
    names_.bind_buffer(*buffer.buffer, entry->getArg(next++), !buffer.writable);
  }
  for (const loop::ScalarParam& scalar : kernel.scalars)
    names_.bind_value(scalar.name, entry->getArg(next++));
  stmts_.statement(kernel.body);
  builder_.CreateRetVoid();
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyFunction(*entry, &out)) {
    internal_error("invalid LLVM IR for the kernel ", kernel.name, ": ", problem);
  }
}

// The register as an index in [0, end).
llvm::Value* GpuEmitter::special_register(llvm::Intrinsic::ID id, int64_t end) {
  llvm::CallInst* read = builder_.CreateIntrinsic(id, {});
  read->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, end)));
  return builder_.CreateZExt(read, builder_.getInt64Ty());
}

void GpuEmitter::bound_loop(const loop::For& loop) {
  llvm::Value* number = nullptr;  // of the iteration that this thread runs
  int64_t numbers = kMostBlocks;
  const int64_t threads = threads_;
  switch (loop.loop) {
    case ForKind::Block:
      number = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, kMostBlocks);
      break;
    case ForKind::Thread:
      number = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, threads);
      numbers = threads;
      break;
    case ForKind::Warp:
      number = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, threads);
      number = builder_.CreateLShr(number, llvm::Log2_32(kWarpSize));
      numbers = threads / kWarpSize;
      break;
    case ForKind::Lane:
      number = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, kWarpSize);
      numbers = kWarpSize;
      break;
    default:
      unsupported("the loop over ", loop.var,
                  " is distributed over CPU threads; bind it to GPU blocks or threads");
  }
  llvm::Value* step = builder_.getInt64(static_cast<uint64_t>(loop.step));
  llvm::Value* offset = builder_.CreateMul(number, step, "", true, true);
  names_.bind_value(loop.var,
                    builder_.CreateAdd(exprs_.value(loop.begin), offset, loop.var, false, true));
  if (loop.loop == ForKind::Block) return stmts_.statement(loop.body);
  const auto extent = loop::constant_extent(loop);
  TULLE_CHECK(extent && *extent <= numbers, "the extent of the loop over ", loop.var);
  if (*extent == numbers) return stmts_.statement(loop.body);
  llvm::Value* takes_part =
      builder_.CreateICmpULT(number, builder_.getInt64(static_cast<uint64_t>(*extent)));
  function_.branch(takes_part, [&] { stmts_.statement(loop.body); }, [] {});
}

// --- shared memory and barriers ---

llvm::Value* GpuEmitter::shared_memory(const loop::Allocate& stmt) {
  const loop::BufferNode& buffer = *stmt.buffer;
  const llvm::Align align(loop::kSharedAlignment);
  const auto variable = [&](llvm::Type* type, bool here, const std::string& name) {
    auto* memory = new llvm::GlobalVariable(
        module_, type, false,
        here ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::ExternalLinkage,
        here ? llvm::PoisonValue::get(type) : nullptr, name, nullptr,
        llvm::GlobalValue::NotThreadLocal, kSharedSpace);
    memory->setAlignment(align);
    return memory;
  };
  const auto count = static_cast<uint64_t>(stmt.size.as<loop::IntConst>()->value);
  if (!dynamic_shared_) {
    llvm::Type* element = function_.memory_type_of({buffer.element, 1});
    return variable(llvm::ArrayType::get(element, count), true,
                    concat(function_.current()->getName().str(), ".", buffer.name));
  }
  // One variable of unknown size represents all dynamic shared memory of a launch.
  llvm::GlobalVariable* all = module_.getGlobalVariable("tulle_shared");
  if (!all) all = variable(llvm::ArrayType::get(builder_.getInt8Ty(), 0), false, "tulle_shared");
  const int64_t offset = shared_used_;
  shared_used_ += loop::shared_bytes(stmt);
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), all,
                                             static_cast<uint64_t>(offset));
}

void GpuEmitter::allocate_elsewhere(const loop::Allocate& stmt) {
  if (stmt.buffer->space != loop::Space::Shared) {
    unsupported("the buffer ", stmt.buffer->name,
                " is a workspace of a CPU thread in a GPU kernel");
  }
  names_.bind_buffer(*stmt.buffer, shared_memory(stmt), false);
  if (stmt.zeroed) zero_shared(stmt);
}

// All threads zero the buffer together, between two barriers, because others may still read its old
// contents.
void GpuEmitter::zero_shared(const loop::Allocate& stmt) {
  const std::string thread = "thread of " + stmt.buffer->name,
                    at = "zeroed of " + stmt.buffer->name;
  block_barrier();
  names_.bind_value(thread, special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, threads_));
  const loop::Stmt zero = loop::Store::make(stmt.buffer, loop::Var::make(at),
                                            loop::constant({stmt.buffer->element, 1}, 0));
  stmts_.statement(
      loop::For::make(at, loop::Var::make(thread), stmt.size, zero, ForKind::Serial, 0, threads_));
  block_barrier();
}

void GpuEmitter::block_barrier() {
  builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                           {builder_.getInt32(0)});
}

void GpuEmitter::barrier(const loop::Barrier& stmt) {
  if (stmt.scope == loop::BarrierScope::Block) return block_barrier();
  builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {builder_.getInt32(~0U)});
}

llvm::SyncScope::ID GpuEmitter::atomic_scope(const loop::BufferNode& buffer) {
  return context_.getOrInsertSyncScopeID(buffer.space == loop::Space::Shared ? "block" : "device");
}

// --- lanes ---

// The lanes of the own group. Other groups of the warp may be elsewhere.
llvm::Value* GpuEmitter::group_mask(int width) {
  if (width == kWarpSize) return builder_.getInt32(~0U);
  llvm::Value* lane = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  const auto size = static_cast<uint32_t>(width);
  llvm::Value* first = builder_.CreateAnd(lane, builder_.getInt32(~(size - 1)));
  return builder_.CreateShl(builder_.getInt32((1U << size) - 1), first);
}

llvm::Value* GpuEmitter::shuffle_word(ShuffleMode mode, llvm::Value* word, llvm::Value* lane,
                                      int width) {
  using namespace llvm::Intrinsic;
  const ID id = mode == ShuffleMode::Index ? nvvm_shfl_sync_idx_i32
                : mode == ShuffleMode::Xor ? nvvm_shfl_sync_bfly_i32
                : mode == ShuffleMode::Up  ? nvvm_shfl_sync_up_i32
                                           : nvvm_shfl_sync_down_i32;
  const unsigned last = mode == ShuffleMode::Up ? 0 : kWarpSize - 1;
  const unsigned groups = static_cast<unsigned>(kWarpSize - width) << 8;
  return builder_.CreateIntrinsic(
      id, {group_mask(width), word, lane, builder_.getInt32(groups | last)});
}

llvm::Value* GpuEmitter::shuffle(ShuffleMode mode, llvm::Value* value, llvm::Value* lane,
                                 int width) {
  llvm::Type* type = value->getType();
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    llvm::Value* result = llvm::PoisonValue::get(type);
    for (uint64_t at = 0; at < vector->getNumElements(); ++at) {
      llvm::Value* one = shuffle(mode, builder_.CreateExtractElement(value, at), lane, width);
      result = builder_.CreateInsertElement(result, one, at);
    }
    return result;
  }
  llvm::Type* i32 = builder_.getInt32Ty();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Type* integer = builder_.getIntNTy(bits);
  llvm::Value* as_integer = builder_.CreateBitCast(value, integer);
  if (bits <= 32) {
    llvm::Value* word = shuffle_word(mode, builder_.CreateZExt(as_integer, i32), lane, width);
    return builder_.CreateBitCast(builder_.CreateTrunc(word, integer), type);
  }
  auto* words = llvm::FixedVectorType::get(i32, 2);
  llvm::Value* halves = builder_.CreateBitCast(as_integer, words);
  return builder_.CreateBitCast(shuffle(mode, halves, lane, width), type);
}

llvm::Value* GpuEmitter::lane_shuffle(const loop::LaneShuffle& expr) {
  llvm::Value* own = exprs_.value(expr.value);
  llvm::Value* lane = exprs_.value(expr.lane);
  llvm::Value* other =
      shuffle(expr.mode, own, builder_.CreateSExtOrTrunc(lane, builder_.getInt32Ty()), expr.width);
  const auto* number = expr.lane.as<loop::IntConst>();
  const bool is_inside = number && number->value >= 0 && number->value < expr.width;
  // The instruction respects the group but uses only five bits of the index.
  if (expr.mode == ShuffleMode::Index || is_inside) return other;
  llvm::Value* width = llvm::ConstantInt::get(lane->getType(), static_cast<uint64_t>(expr.width));
  return builder_.CreateSelect(builder_.CreateICmpULT(lane, width), other, own);
}

// Each step adds the value of the lane at half the distance.
llvm::Value* GpuEmitter::lane_reduce(const loop::LaneReduce& expr) {
  llvm::Value* result = exprs_.value(expr.value);
  for (int distance = expr.width / 2; distance >= 1; distance /= 2) {
    llvm::Value* lane = builder_.getInt32(static_cast<uint32_t>(distance));
    llvm::Value* other = shuffle(ShuffleMode::Xor, result, lane, expr.width);
    result = arithmetic_.combine(expr.op, result, other, expr.type);
  }
  return result;
}

// Adds two or four floats by a single instruction if the hardware supports it.
bool GpuEmitter::atomic_vector(const loop::Atomic& stmt, llvm::Value* pointer,
                               llvm::Value* elements) {
  const loop::Type type = stmt.value.type();
  const int lanes = type.lanes % 4 == 0 ? 4 : 2;
  const bool has_vectors = target_.cpu != "sm_80" && stmt.op == loop::ReduceOp::Add &&
                           stmt.buffer->space == loop::Space::Global &&
                           type.scalar == DType::Float32 && type.lanes % lanes == 0;
  if (!has_vectors) return false;
  for (int first = 0; first < type.lanes; first += lanes) {
    const auto at = static_cast<uint64_t>(first);
    add_floats(builder_.CreateConstGEP1_64(builder_.getFloatTy(), pointer, at), elements, first,
               lanes);
  }
  return true;
}

// Adds `lanes` elements, starting with element `first`.
void GpuEmitter::add_floats(llvm::Value* pointer, llvm::Value* elements, int first, int lanes) {
  std::vector<llvm::Value*> operands = {pointer};
  std::vector<llvm::Type*> types = {pointer->getType()};
  std::string list, constraints = "l";
  for (int lane = 0; lane < lanes; ++lane) {
    operands.push_back(builder_.CreateExtractElement(
        elements, builder_.getInt32(static_cast<uint32_t>(first + lane))));
    types.push_back(operands.back()->getType());
    list += concat(lane ? ", $" : "$", lane + 1);
    constraints += ",f";
  }
  const std::string text = concat("red.global.add.v", lanes, ".f32 [$0], {", list, "};");
  auto* shape = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
  builder_.CreateCall(llvm::InlineAsm::get(shape, text, constraints + ",~{memory}",
                                           /*hasSideEffects=*/true),
                      operands);
}

// --- the rest ---

void GpuEmitter::nontemporal_store(llvm::Value* value, llvm::Value* pointer, llvm::Align align) {
  llvm::StoreInst* store = builder_.CreateAlignedStore(value, pointer, align);
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, one));
}

void GpuEmitter::invoke(const loop::Invoke& stmt) {
  if (stmt.function == loop::RuntimeFunction::ReportOutOfBounds) {
    builder_.CreateIntrinsic(llvm::Intrinsic::trap, {});
    return;
  }
  unsupported("a kernel that calls ", loop::text_of(stmt.function),
              " is not supported on the GPU yet");
}

llvm::Value* GpuEmitter::library_call(loop::Function function, llvm::Value* scalar) {
  if (function == loop::Function::Exp2)
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz, scalar);
  unsupported("the function ", loop::text_of(function), " is not supported on the GPU yet");
}

}  // namespace

std::string entry_name(std::string kernel) {
  std::replace(kernel.begin(), kernel.end(), '.', '$');
  return kernel;
}

Module emit_gpu(const std::vector<loop::Kernel>& kernels, const Target& target) {
  TULLE_CHECK(is_gpu(target), target.triple, " is not a GPU");
  auto parts = make_parts(target);
  GpuEmitter emitter(*parts->module, parts->target);
  for (const loop::Kernel& kernel : kernels) emitter.kernel(kernel);
  return Module(std::move(parts));
}

std::string ptx(const Module& module) { return assembly(module); }

}  // namespace tulle::codegen
