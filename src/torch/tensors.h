// PyTorch tensors of the stable ABI: ownership and properties.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/stable/c/shim.h>

#include "tulle/dtype.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// An owned reference to a tensor.
class OwnedTensor {
 public:
  OwnedTensor() = default;
  explicit OwnedTensor(AtenTensorHandle handle) : handle_(handle) {}
  OwnedTensor(OwnedTensor&& other) noexcept : handle_(other.release()) {}
  OwnedTensor& operator=(OwnedTensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  OwnedTensor(const OwnedTensor&) = delete;
  OwnedTensor& operator=(const OwnedTensor&) = delete;
  ~OwnedTensor() {
    if (handle_) aoti_torch_delete_tensor_object(handle_);
  }

  AtenTensorHandle get() const { return handle_; }
  AtenTensorHandle release() { return std::exchange(handle_, nullptr); }

 private:
  AtenTensorHandle handle_ = nullptr;
};

int64_t rank_of(AtenTensorHandle tensor);
int64_t element_count(AtenTensorHandle tensor);
const int64_t* sizes_of(AtenTensorHandle tensor);
const void* data_of(AtenTensorHandle tensor);
void* mutable_data_of(AtenTensorHandle tensor);
int64_t element_size(AtenTensorHandle tensor);  // in bytes
bool is_contiguous(AtenTensorHandle tensor);
bool has_type(AtenTensorHandle tensor, DType type);
// Throws UserError if the storage of the tensor ends before its elements do. Callers can shrink the
// storage of a tensor, and PyTorch keeps the sizes then.
void check_memory(const std::string& name, AtenTensorHandle tensor);
// Whether the tensor was made in inference mode. PyTorch does not count the writes to such a
// tensor.
bool is_inference(AtenTensorHandle tensor);
// PyTorch's count of writes to the memory of the tensor, which all views of it share.
int64_t write_count(AtenTensorHandle tensor);
// "float32 [3, 4]", for messages.
std::string describe(AtenTensorHandle tensor);

// A new uninitialised row-major tensor in PyTorch's memory, or for large CPU tensors in blocks that
// Tulle reuses. Empty if out of memory.
OwnedTensor new_tensor(DType type, std::span<const int64_t> sizes, const Device& device = {});
OwnedTensor same_tensor(AtenTensorHandle tensor);
// The same elements in row-major order; a copy if necessary.
OwnedTensor contiguous(AtenTensorHandle tensor);
// A row-major copy.
OwnedTensor copied(AtenTensorHandle tensor);
// Copies to a tensor of the same type and sizes.
void copy_elements(AtenTensorHandle from, AtenTensorHandle to);
// A row-major tensor of another shape over the same memory.
OwnedTensor reshaped(AtenTensorHandle tensor, std::span<const int64_t> sizes);

}  // namespace tulle::shim
