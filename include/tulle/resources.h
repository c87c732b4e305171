// What a run takes from its caller: a device, memory, threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tulle/dtype.h"
#include "tulle/export.h"

namespace tulle {

// Where a program runs and where the arrays of its operands and results lie. Programs, formats and
// statements are the same everywhere.
struct Device {
  enum class Kind : uint8_t { Cpu, Cuda };
  Kind kind = Kind::Cpu;
  int ordinal = 0;  // of a GPU

  bool is_cuda() const { return kind == Kind::Cuda; }
  bool operator==(const Device&) const = default;
};

// Where the arrays of results come from. The caller owns what allocate() gave, also when running
// fails.
class Memory {
 public:
  virtual ~Memory() = default;
  struct Block {
    void* data = nullptr;
    void* handle = nullptr;
  };
  // At least 64-byte aligned, or data == null if there is none.
  virtual Block allocate(DType type, int64_t length, bool zeroed) = 0;
  // The same for the values of the result of that number. A caller that has a place for them gives
  // it here; it must overlap nothing else that the program uses.
  virtual Block allocate_values(size_t result, DType type, int64_t length, bool zeroed) {
    (void)result;
    return allocate(type, length, zeroed);
  }
  // On a GPU, where `zeroed` is never asked for, temporaries come from the caller too: memory in
  // the order of the run's stream, given back as soon as all that uses it is on the stream.
  virtual Block allocate_temporary(int64_t bytes) { return allocate(DType::Bool, bytes, false); }
  virtual void release_temporary(const Block& block) { (void)block; }
  // Lets a temporary live on after the run, and after this object, until the function is called;
  // null where that cannot be: it is released with the others then.
  virtual std::function<void()> keep_temporary(const Block& block) {
    (void)block;
    return nullptr;
  }
};

// Memory for results from blocks that are kept when given back, since fresh pages cost more than
// filling them: 64-byte aligned, null if there is none. At most half a GiB is kept.
TULLE_API void* allocate_kept(int64_t bytes) noexcept;
// Takes back what allocate_kept gave; `bytes` as asked for then.
TULLE_API void release_kept(void* memory, int64_t bytes) noexcept;

// Runs body(begin, end) over pieces of [0, count), some at the same time, and returns when all are
// done.
using ParallelFor =
    std::function<void(int64_t count, const std::function<void(int64_t, int64_t)>& body)>;

struct RunOptions {
  int threads = 1;           // that run kernels, and compile them for whatever device
  ParallelFor parallel_for;  // null: a pool of Tulle's own
  // Where the operands lie. On a GPU their arrays begin at multiples of 16 bytes, Memory gives
  // device memory, and a run returns when its work is on the stream (a CUstream; null is the
  // default one): it waits for the GPU only to read the size of a result that depends on the data.
  // All else can be captured in a CUDA graph.
  Device device;
  void* stream = nullptr;
  // On a GPU: the same operands give the same bits, so that no sums are added up by atomics.
  bool deterministic = false;
};

// Device memory from the driver, in the order of a stream; freed with this object.
class TULLE_API CudaMemory final : public Memory {
 public:
  CudaMemory(Device device, void* stream);
  ~CudaMemory() override;
  Block allocate(DType type, int64_t length, bool zeroed) override;
  void release_temporary(const Block& block) override;
  // Between host and device; both wait for the stream.
  void copy_to_device(void* to, const void* from, int64_t bytes);
  void copy_to_host(void* to, const void* from, int64_t bytes);

 private:
  Device device_;
  void* stream_;
  std::vector<void*> blocks_;
};

}  // namespace tulle
