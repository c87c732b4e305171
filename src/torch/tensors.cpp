// Tensors through the stable ABI.
#include "tensors.h"

#include <algorithm>
#include <array>

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include "tulle/error.h"
#include "tulle/tulle.h"
#include "tulle/type_names.h"

namespace tulle::shim {

namespace {

void check(AOTITorchError status, const char* what) {
  if (status != TORCH_SUCCESS) throw InternalError(std::string("PyTorch failed in ") + what + ".");
}

// PyTorch's number of each DType.
const std::array<int32_t, 7>& type_numbers() {
  static const std::array<int32_t, 7> numbers = {
      aoti_torch_dtype_bool(),    aoti_torch_dtype_int32(),    aoti_torch_dtype_int64(),
      aoti_torch_dtype_float16(), aoti_torch_dtype_bfloat16(), aoti_torch_dtype_float32(),
      aoti_torch_dtype_float64(),
  };
  return numbers;
}

int32_t type_number(DType type) { return type_numbers()[static_cast<size_t>(type)]; }

int32_t type_number_of(AtenTensorHandle tensor) {
  int32_t number = 0;
  check(aoti_torch_get_dtype(tensor, &number), "get_dtype");
  return number;
}

// Row-major strides, computed as PyTorch does for empty tensors.
std::array<int64_t, 64> strides_for(std::span<const int64_t> sizes) {
  std::array<int64_t, 64> strides{};
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

void check_rank(size_t rank) {
  if (rank > 64) throw UserError("Tensors have at most 64 dimensions.");
}

}  // namespace

int64_t rank_of(AtenTensorHandle tensor) {
  int64_t rank = 0;
  check(aoti_torch_get_dim(tensor, &rank), "get_dim");
  return rank;
}

int64_t element_count(AtenTensorHandle tensor) {
  int64_t count = 0;
  check(aoti_torch_get_numel(tensor, &count), "get_numel");
  return count;
}

const int64_t* sizes_of(AtenTensorHandle tensor) {
  int64_t* sizes = nullptr;
  check(aoti_torch_get_sizes(tensor, &sizes), "get_sizes");
  return sizes;
}

const void* data_of(AtenTensorHandle tensor) {
  const void* data = nullptr;
  check(torch_get_const_data_ptr(tensor, &data), "get_const_data_ptr");
  return data;
}

void* mutable_data_of(AtenTensorHandle tensor) {
  void* data = nullptr;
  check(torch_get_mutable_data_ptr(tensor, &data), "get_mutable_data_ptr");
  return data;
}

int64_t element_size(AtenTensorHandle tensor) {
  return static_cast<int64_t>(aoti_torch_dtype_element_size(type_number_of(tensor)));
}

bool is_contiguous(AtenTensorHandle tensor) {
  bool contiguous = false;
  check(aoti_torch_is_contiguous(tensor, &contiguous), "is_contiguous");
  return contiguous;
}

bool has_type(AtenTensorHandle tensor, DType type) {
  return type_number_of(tensor) == type_number(type);
}

void check_memory(const std::string& name, AtenTensorHandle tensor) {
  int64_t bytes = 0, last = 0;
  int64_t* strides = nullptr;
  check(aoti_torch_get_storage_size(tensor, &bytes), "get_storage_size");
  check(aoti_torch_get_storage_offset(tensor, &last), "get_storage_offset");
  check(aoti_torch_get_strides(tensor, &strides), "get_strides");
  const int64_t* const sizes = sizes_of(tensor);
  for (int64_t d = 0; d < rank_of(tensor); ++d) {
    if (sizes[d] == 0) return;
    last += (sizes[d] - 1) * strides[d];
  }
  if (last < bytes / element_size(tensor)) return;
  throw UserError(name + ": the storage of a tensor has " + std::to_string(bytes) +
                  " bytes, which do not hold " + describe(tensor) +
                  "; give the storage its size back, or make a new tensor.");
}

namespace {

// The result of an operator of PyTorch that takes one tensor and returns a number.
template <typename Result>
Result ask(const char* name, AtenTensorHandle tensor) {
  std::array<StableIValue, 1> stack{torch::stable::detail::from(same_tensor(tensor).release())};
  check(torch_call_dispatcher(name, "", stack.data(), TORCH_ABI_VERSION), name);
  return torch::stable::detail::to<Result>(stack[0]);
}

}  // namespace

bool is_inference(AtenTensorHandle tensor) { return ask<bool>("aten::is_inference", tensor); }

int64_t write_count(AtenTensorHandle tensor) { return ask<int64_t>("aten::_version", tensor); }

std::string describe(AtenTensorHandle tensor) {
  const auto& numbers = type_numbers();
  const auto* found = std::find(numbers.begin(), numbers.end(), type_number_of(tensor));
  std::string text = found == numbers.end()
                         ? "an unknown type"
                         : std::string(long_name_of(static_cast<DType>(found - numbers.begin())));
  text += " [";
  for (int64_t d = 0; d < rank_of(tensor); ++d) {
    text += (d ? ", " : "") + std::to_string(sizes_of(tensor)[d]);
  }
  return text + "]";
}

namespace {

// PyTorch returns blocks of this size to the system, which must map new pages for every result.
constexpr int64_t kLarge = int64_t{1} << 18;

OwnedTensor new_large_tensor(DType type, std::span<const int64_t> sizes,
                             std::span<const int64_t> strides, int64_t bytes) {
  void* memory = allocate_kept(bytes);
  if (!memory) return {};
  // The context holds the size, which is all that the deleter needs.
  const auto release = [](void* data, void* context) {
    release_kept(data, reinterpret_cast<intptr_t>(context));
  };
  AtenTensorHandle handle = nullptr;
  const auto status = torch_from_blob(
      memory, static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(), 0,
      type_number(type), aoti_torch_device_type_cpu(), -1, &handle, aoti_torch_layout_strided(),
      nullptr, 0, release, reinterpret_cast<void*>(static_cast<intptr_t>(bytes)));
  if (status == TORCH_SUCCESS) return OwnedTensor(handle);
  release_kept(memory, bytes);
  return {};
}

}  // namespace

OwnedTensor new_tensor(DType type, std::span<const int64_t> sizes, const Device& device) {
  check_rank(sizes.size());
  static const int32_t cpu = aoti_torch_device_type_cpu(), cuda = aoti_torch_device_type_cuda();
  const bool on_cpu = !device.is_cuda();
  const auto strides = strides_for(sizes);
  int64_t bytes = size_of(type);
  for (const int64_t size : sizes) bytes *= size;
  if (on_cpu && bytes >= kLarge)
    return new_large_tensor(type, sizes, std::span(strides).first(sizes.size()), bytes);
  AtenTensorHandle handle = nullptr;
  const auto status =
      aoti_torch_empty_strided(static_cast<int64_t>(sizes.size()), sizes.data(), strides.data(),
                               type_number(type), on_cpu ? cpu : cuda, device.ordinal, &handle);
  return status == TORCH_SUCCESS ? OwnedTensor(handle) : OwnedTensor();
}

OwnedTensor same_tensor(AtenTensorHandle tensor) {
  AtenTensorHandle handle = nullptr;
  check(aoti_torch_new_tensor_handle(tensor, &handle), "new_tensor_handle");
  return OwnedTensor(handle);
}

OwnedTensor contiguous(AtenTensorHandle tensor) {
  const torch::stable::Tensor copy =
      torch::stable::contiguous(torch::stable::Tensor(same_tensor(tensor).release()));
  return same_tensor(copy.get());
}

OwnedTensor copied(AtenTensorHandle tensor) {
  const torch::stable::Tensor copy =
      torch::stable::clone(torch::stable::Tensor(same_tensor(tensor).release()));
  return same_tensor(copy.get());
}

void copy_elements(AtenTensorHandle from, AtenTensorHandle to) {
  torch::stable::Tensor target(same_tensor(to).release());
  torch::stable::copy_(target, torch::stable::Tensor(same_tensor(from).release()));
}

OwnedTensor reshaped(AtenTensorHandle tensor, std::span<const int64_t> sizes) {
  check_rank(sizes.size());
  const auto strides = strides_for(sizes);
  AtenTensorHandle handle = nullptr;
  check(aoti_torch__reinterpret_tensor(tensor, static_cast<int64_t>(sizes.size()), sizes.data(),
                                       strides.data(), 0, &handle),
        "reinterpret_tensor");
  return OwnedTensor(handle);
}

}  // namespace tulle::shim
