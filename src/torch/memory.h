// Allocates the arrays of results as PyTorch tensors.
#pragma once

#include <vector>

#include "programs.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

class TorchMemory final : public Memory {
 public:
  // The tensor for the values of a result. A plain result has its shape from the start, any other
  // is a vector.
  struct ResultPlace {
    bool is_plain = false;
    std::vector<int64_t> sizes;      // of a plain result; set before a run
    AtenTensorHandle out = nullptr;  // the tensor for the values; null: a new one
  };

  explicit TorchMemory(const std::vector<TensorLayout>& results);

  // Sets the device of the next run's results and temporaries.
  void set_device(const Device& device) { device_ = device; }

  Block allocate(DType type, int64_t length, bool zeroed) override;
  Block allocate_values(size_t result, DType type, int64_t length, bool zeroed) override;

  Block allocate_temporary(int64_t bytes) override;
  void release_temporary(const Block& block) override;
  std::function<void()> keep_temporary(const Block& block) override;

  ResultPlace& place(size_t result) { return places_[result]; }
  // Transfers the tensor of a block to the caller.
  OwnedTensor take(void* handle);
  // Releases tensors that were not taken, and forgets the tensors for results.
  void clear();

 private:
  Block keep(OwnedTensor tensor, DType type, int64_t length, bool zeroed);

  Device device_;
  std::vector<ResultPlace> places_;  // by result
  std::vector<OwnedTensor> tensors_;
};

}  // namespace tulle::shim
