// The arrays of results, as PyTorch's tensors.
#pragma once

#include <vector>

#include "programs.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

class TorchMemory final : public Memory {
 public:
  // What the values of a result become. A plain one has its shape at once, all others are vectors.
  struct ResultPlace {
    bool is_plain = false;
    std::vector<int64_t> sizes;      // of a plain result; to be set before a run
    AtenTensorHandle out = nullptr;  // a tensor that takes them; null: a new one
  };

  explicit TorchMemory(const std::vector<TensorLayout>& results);

  // Where the next run's results and temporaries shall be.
  void set_device(const Device& device) { device_ = device; }

  Block allocate(DType type, int64_t length, bool zeroed) override;
  Block allocate_values(size_t result, DType type, int64_t length, bool zeroed) override;

  Block allocate_temporary(int64_t bytes) override;
  void release_temporary(const Block& block) override;
  std::function<void()> keep_temporary(const Block& block) override;

  ResultPlace& place(size_t result) { return places_[result]; }
  // The tensor of a block; it is the caller's then.
  OwnedTensor take(void* handle);
  // Lets go of what was not taken, and of the tensors that take results.
  void clear();

 private:
  Block keep(OwnedTensor tensor, DType type, int64_t length, bool zeroed);

  Device device_;
  std::vector<ResultPlace> places_;  // by result
  std::vector<OwnedTensor> tensors_;
};

}  // namespace tulle::shim
