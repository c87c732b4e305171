// The resources that a caller gives to a run: a device, memory, threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tulle/dtype.h"
#include "tulle/export.h"

namespace tulle {

// The device that a program runs on and that holds the arrays of its operands and results.
struct Device {
  enum class Kind : uint8_t { Cpu, Cuda };
  Kind kind = Kind::Cpu;
  int ordinal = 0;  // of a GPU

  bool is_cuda() const { return kind == Kind::Cuda; }
  bool operator==(const Device&) const = default;
};

// Allocates the arrays of results. The caller owns every block that allocate() returned, also if
// the run fails.
class Memory {
 public:
  virtual ~Memory() = default;
  struct Block {
    void* data = nullptr;
    void* handle = nullptr;
  };
  // The block is at least 64-byte aligned. data == null means out of memory.
  virtual Block allocate(DType type, int64_t length, bool zeroed) = 0;
  // Allocates the values of result number `result`. A caller that already has memory for them
  // returns that memory here; it must not overlap any other array of the run.
  virtual Block allocate_values(size_t result, DType type, int64_t length, bool zeroed) {
    (void)result;
    return allocate(type, length, zeroed);
  }
  // GPU only: allocates temporary memory in stream order. The run releases it as soon as it has
  // enqueued the last use on the stream. On a GPU, `zeroed` is always false.
  virtual Block allocate_temporary(int64_t bytes) { return allocate(DType::Bool, bytes, false); }
  virtual void release_temporary(const Block& block) { (void)block; }
  // Extends the life of a temporary beyond the run and this object, until the returned function is
  // called. Returns null if that is not possible; the run then releases the temporary.
  virtual std::function<void()> keep_temporary(const Block& block) {
    (void)block;
    return nullptr;
  }
};

// Allocates 64-byte aligned memory for results; null if out of memory. Released blocks are reused,
// because fresh pages cost more than filling them. At most half a GiB of free blocks is kept.
TULLE_API void* allocate_kept(int64_t bytes) noexcept;
// Releases a block of allocate_kept(). `bytes` is the size that was requested.
TULLE_API void release_kept(void* memory, int64_t bytes) noexcept;

// Runs body(begin, end) over pieces of [0, count), possibly in parallel, and returns when all
// pieces are done.
using ParallelFor =
    std::function<void(int64_t count, const std::function<void(int64_t, int64_t)>& body)>;

struct RunOptions {
  int threads = 1;           // for compiling, and for running kernels on a CPU
  ParallelFor parallel_for;  // null: Tulle's own thread pool
  // The device of the operands. On a GPU, arrays must be aligned to 16 bytes, Memory must return
  // device memory, and a run returns when it has enqueued its work on the stream (a CUstream; null
  // is the default stream). A run waits for the GPU only to read the size of a result that depends
  // on the data; a run without such a result can be captured in a CUDA graph.
  Device device;
  void* stream = nullptr;
  // GPU only: the same operands give bitwise equal results, so sums do not use atomics.
  bool deterministic = false;
};

// Device memory from the driver, allocated in stream order and freed with this object.
class TULLE_API CudaMemory final : public Memory {
 public:
  CudaMemory(Device device, void* stream);
  ~CudaMemory() override;
  Block allocate(DType type, int64_t length, bool zeroed) override;
  void release_temporary(const Block& block) override;
  // Copies between host and device; both wait for the stream.
  void copy_to_device(void* to, const void* from, int64_t bytes);
  void copy_to_host(void* to, const void* from, int64_t bytes);

 private:
  Device device_;
  void* stream_;
  std::vector<void*> blocks_;
};

}  // namespace tulle
