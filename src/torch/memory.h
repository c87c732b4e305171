// The arrays of results, allocated as PyTorch's tensors.
#pragma once

#include <vector>

#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

class TorchMemory final : public Memory {
 public:
  Block allocate(DType type, int64_t length, bool zeroed) override;

  // The sizes, to be filled in, that an array of that type and as many elements gets at once; all
  // others are vectors.
  std::vector<int64_t>& expect(DType type);
  // The tensor of a block; it is the caller's then.
  OwnedTensor take(void* handle);
  // Lets go of what was not taken, and of the expectations.
  void clear();

 private:
  struct Shape {
    DType type;
    std::vector<int64_t> sizes;
  };
  std::vector<Shape> shapes_;  // kept for later calls
  size_t expected_ = 0;        // of them
  std::vector<OwnedTensor> tensors_;
};

}  // namespace tulle::shim
