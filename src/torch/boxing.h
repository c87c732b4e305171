// Arguments and results of hand-boxed operators. A kernel must take all its arguments off the stack
// before it can fail; arguments left on the stack leak.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torch/csrc/stable/stableivalue_conversions.h>

#include "tensors.h"

namespace tulle::shim {

// A `str` argument. PyTorch's own unboxing leaks the handle.
class StringArgument {
 public:
  explicit StringArgument(StableIValue value)
      : handle_(torch::stable::detail::to<StringHandle>(value)) {}
  StringArgument(const StringArgument&) = delete;
  StringArgument& operator=(const StringArgument&) = delete;
  ~StringArgument() { torch_delete_string(handle_); }

  std::string_view view() const {
    const char* data = nullptr;
    size_t length = 0;
    torch_string_c_str(handle_, &data);
    torch_string_length(handle_, &length);
    return {data, length};
  }

 private:
  StringHandle handle_;
};

inline OwnedTensor take_tensor(StableIValue value) {
  return OwnedTensor(torch::stable::detail::to<AtenTensorHandle>(value));
}

// The items of a list, each converted by `take`.
template <typename Take>
auto take_items(StableIValue value, const Take& take) {
  const auto list = torch::stable::detail::to<StableListHandle>(value);
  size_t count = 0;
  torch_list_size(list, &count);
  std::vector<decltype(take(StableIValue{}))> items;
  items.reserve(count);
  for (size_t at = 0; at < count; ++at) {
    StableIValue item = 0;
    torch_list_get_item(list, at, &item);
    items.push_back(take(item));
  }
  torch_delete_list(list);
  return items;
}

inline std::vector<OwnedTensor> take_list(StableIValue value) {
  return take_items(value, take_tensor);
}

inline std::vector<int64_t> take_numbers(StableIValue value) {
  return take_items(value, torch::stable::detail::to<int64_t>);
}

inline StableIValue give_tensor(OwnedTensor tensor) {
  return torch::stable::detail::from(tensor.release());
}

inline StableIValue give_list(std::vector<OwnedTensor> tensors) {
  StableListHandle list = nullptr;
  torch_new_list_reserve_size(tensors.size(), &list);
  for (OwnedTensor& tensor : tensors) torch_list_push_back(list, give_tensor(std::move(tensor)));
  return torch::stable::detail::from(list);
}

inline StableIValue give_string(const std::string& text) {
  return torch::stable::detail::from(text);
}

}  // namespace tulle::shim
