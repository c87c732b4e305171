// An array of trivial values that uses the stack while it is small.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace tulle::runtime {

template <typename T>
class StackArray {
 public:
  explicit StackArray(size_t count) {
    data_ = few_.data();
    if (count <= kFew) return;
    many_ = std::make_unique<T[]>(count);
    data_ = many_.get();
  }
  StackArray(const StackArray&) = delete;
  StackArray& operator=(const StackArray&) = delete;

  T* data() { return data_; }
  T& operator[](size_t index) { return data_[index]; }

 private:
  static constexpr size_t kFew = 32;
  std::array<T, kFew> few_;  // uninitialised
  std::unique_ptr<T[]> many_;
  T* data_;
};

}  // namespace tulle::runtime
