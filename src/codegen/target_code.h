// The code that differs between targets.
#pragma once

#include "llvm/IR/IRBuilder.h"

#include "loop/host.h"

namespace tulle::codegen {

class TargetCode {
 public:
  virtual ~TargetCode() = default;

  virtual void bound_loop(const loop::For& loop) = 0;  // Parallel, Block, Warp, Lane, Thread
  virtual void allocate_elsewhere(const loop::Allocate&) = 0;  // Shared, Workspace
  // Releases what allocate_elsewhere allocated in the block.
  virtual void leave_block(const loop::Block& block) = 0;
  virtual void barrier(const loop::Barrier& stmt) = 0;
  virtual void invoke(const loop::Invoke& stmt) = 0;
  virtual void nontemporal_store(llvm::Value* value, llvm::Value* pointer, llvm::Align align) = 0;
  virtual llvm::Value* lane_reduce(const loop::LaneReduce& expr) = 0;
  virtual llvm::Value* lane_shuffle(const loop::LaneShuffle& expr) = 0;
  virtual llvm::Value* library_call(loop::Function function, llvm::Value* scalar) = 0;
  virtual void prefetch(const loop::PrefetchLine& stmt) = 0;
  // Whether the target converts from f32 to the half type, and from f16 to f32, in hardware.
  virtual bool converts(DType half) const = 0;
  // Emits a vector atomic on elements that start at `pointer`, if the target has an instruction.
  virtual bool atomic_vector(const loop::Atomic&, llvm::Value* /*pointer*/,
                             llvm::Value* /*elements*/) {
    return false;
  }
  // The threads that take part in atomics on a buffer.
  virtual llvm::SyncScope::ID atomic_scope(const loop::BufferNode&) {
    return llvm::SyncScope::System;
  }
};

}  // namespace tulle::codegen
