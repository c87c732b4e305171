// Allocates arrays of results.
#include "memory.h"

#include <algorithm>
#include <cstring>

#include "parallel.h"
#include "tulle/error.h"

namespace tulle::shim {

namespace {

// What is below this is zeroed by one thread.
constexpr int64_t kPiece = int64_t{1} << 20;

// What an array of no elements points to: it is not null, which would mean failure.
alignas(64) char nothing[64];

void zero(char* data, int64_t bytes) {
  parallel_for(0, bytes, kPiece, [&](int64_t begin, int64_t end) {
    std::memset(data + begin, 0, static_cast<size_t>(end - begin));
  });
}

}  // namespace

std::vector<int64_t>& TorchMemory::expect(DType type) {
  if (expected_ == shapes_.size()) shapes_.emplace_back();
  Shape& shape = shapes_[expected_++];
  shape.type = type;
  shape.sizes.clear();
  return shape.sizes;
}

Memory::Block TorchMemory::allocate(DType type, int64_t length, bool zeroed) {
  const auto end = shapes_.begin() + static_cast<ptrdiff_t>(expected_);
  const auto shape = std::find_if(shapes_.begin(), end, [&](const Shape& candidate) {
    int64_t count = 1;
    for (const int64_t size : candidate.sizes) count *= size;
    return candidate.type == type && count == length;
  });
  OwnedTensor tensor =
      shape == end ? new_tensor(type, std::span(&length, 1)) : new_tensor(type, shape->sizes);
  if (!tensor.get()) return {};
  void* data = length == 0 ? nothing : mutable_data_of(tensor.get());
  if (zeroed && length > 0) zero(static_cast<char*>(data), length * size_of(type));
  void* handle = tensor.get();
  tensors_.push_back(std::move(tensor));
  return {data, handle};
}

OwnedTensor TorchMemory::take(void* handle) {
  for (OwnedTensor& tensor : tensors_) {
    if (tensor.get() == handle) return std::move(tensor);
  }
  throw InternalError("A result has an array that was not allocated for it.");
}

void TorchMemory::clear() {
  tensors_.clear();
  expected_ = 0;
}

}  // namespace tulle::shim
