// Allocates arrays of results.
#include "memory.h"

#include <cstring>

#include "parallel.h"
#include "tulle/error.h"

namespace tulle::shim {

namespace {

// The least number of bytes that one thread zeroes.
constexpr int64_t kPiece = int64_t{1} << 20;

// The address of arrays without elements; null would mean failure.
alignas(64) char nothing[64];

void zero(char* data, int64_t bytes) {
  parallel_for(0, bytes, kPiece, [&](int64_t begin, int64_t end) {
    std::memset(data + begin, 0, static_cast<size_t>(end - begin));
  });
}

// The memory of a tensor, zeroed if requested.
void* filled(AtenTensorHandle tensor, DType type, int64_t length, bool zeroed) {
  if (length == 0) return nothing;
  void* data = mutable_data_of(tensor);
  if (zeroed) zero(static_cast<char*>(data), length * size_of(type));
  return data;
}

}  // namespace

TorchMemory::TorchMemory(const std::vector<TensorLayout>& results) {
  for (const TensorLayout& layout : results) places_.push_back({layout.is_plain, {}, nullptr});
}

Memory::Block TorchMemory::allocate(DType type, int64_t length, bool zeroed) {
  return keep(new_tensor(type, std::span(&length, 1), device_), type, length, zeroed);
}

Memory::Block TorchMemory::allocate_values(size_t result, DType type, int64_t length, bool zeroed) {
  const ResultPlace& place = places_[result];
  if (!place.out) {
    return place.is_plain ? keep(new_tensor(type, place.sizes, device_), type, length, zeroed)
                          : allocate(type, length, zeroed);
  }
  return {filled(place.out, type, length, zeroed), place.out};
}

Memory::Block TorchMemory::keep(OwnedTensor tensor, DType type, int64_t length, bool zeroed) {
  if (!tensor.get()) return {};
  void* data = filled(tensor.get(), type, length, zeroed);
  void* handle = tensor.get();
  tensors_.push_back(std::move(tensor));
  return {data, handle};
}

Memory::Block TorchMemory::allocate_temporary(int64_t bytes) {
  return allocate(DType::Bool, bytes, false);
}

// PyTorch's allocator reuses memory in stream order.
void TorchMemory::release_temporary(const Block& block) { take(block.handle); }

std::function<void()> TorchMemory::keep_temporary(const Block& block) {
  auto tensor = std::make_shared<OwnedTensor>(take(block.handle));
  return [tensor]() mutable { tensor.reset(); };
}

OwnedTensor TorchMemory::take(void* handle) {
  for (OwnedTensor& tensor : tensors_) {
    if (tensor.get() == handle) return std::move(tensor);
  }
  throw InternalError("A result has an array that was not allocated for it.");
}

void TorchMemory::clear() {
  tensors_.clear();
  for (ResultPlace& place : places_) place.out = nullptr;
}

}  // namespace tulle::shim
