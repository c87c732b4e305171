// CudaMemory: the driver's stream-ordered allocator.
#include <algorithm>

#include "support/check.h"
#include "support/cuda_gpu.h"
#include "tulle/tulle.h"

namespace tulle {

namespace {

cuda::Pointer on_device(const void* pointer) { return reinterpret_cast<cuda::Pointer>(pointer); }
cuda::Stream stream_of(void* stream) { return static_cast<cuda::Stream>(stream); }

}  // namespace

CudaMemory::CudaMemory(Device device, void* stream) : device_(device), stream_(stream) {
  if (!device.is_cuda()) user_error("CudaMemory needs a CUDA device");
}

CudaMemory::~CudaMemory() {
  try {
    const cuda::CurrentGpu current(cuda::gpu(device_.ordinal));
    for (const void* block : blocks_) {
      cuda::driver().release(on_device(block), stream_of(stream_));
    }
  } catch (const std::exception&) {
    blocks_.clear();  // the driver has shut down and freed the memory
  }
}

Memory::Block CudaMemory::allocate(DType type, int64_t length, bool zeroed) {
  const cuda::CurrentGpu current(cuda::gpu(device_.ordinal));
  const auto bytes = static_cast<size_t>(std::max<int64_t>(length * size_of(type), 1));
  cuda::Pointer memory = 0;
  if (cuda::driver().allocate(&memory, bytes, stream_of(stream_)) != 0) return {};
  if (zeroed) cuda::check(cuda::driver().fill(memory, 0, bytes, stream_of(stream_)), "zeroing");
  auto* data = reinterpret_cast<void*>(memory);
  blocks_.push_back(data);
  return {data, data};
}

void CudaMemory::release_temporary(const Block& block) {
  const auto found = std::find(blocks_.begin(), blocks_.end(), block.data);
  if (found == blocks_.end()) return;
  const cuda::CurrentGpu current(cuda::gpu(device_.ordinal));
  cuda::check(cuda::driver().release(on_device(block.data), stream_of(stream_)), "freeing memory");
  blocks_.erase(found);
}

void CudaMemory::copy_to_device(void* to, const void* from, int64_t bytes) {
  const cuda::CurrentGpu current(cuda::gpu(device_.ordinal));
  cuda::check(cuda::driver().copy_to_device(on_device(to), from, static_cast<size_t>(bytes),
                                            stream_of(stream_)),
              "copying to the GPU");
  cuda::check(cuda::driver().synchronise(stream_of(stream_)), "copying to the GPU");
}

void CudaMemory::copy_to_host(void* to, const void* from, int64_t bytes) {
  const cuda::CurrentGpu current(cuda::gpu(device_.ordinal));
  cuda::check(cuda::driver().copy_to_host(to, on_device(from), static_cast<size_t>(bytes),
                                          stream_of(stream_)),
              "copying from the GPU");
  cuda::check(cuda::driver().synchronise(stream_of(stream_)), "copying from the GPU");
}

}  // namespace tulle
