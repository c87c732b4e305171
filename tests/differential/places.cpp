// The memory of the host and of a GPU.
#include "differential/places.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <vector>

namespace tulle::differential {

namespace {

// Allocates each array as a vector.
class VectorMemory final : public Memory {
 public:
  Block allocate(DType type, int64_t length, bool zeroed) override {
    const auto bytes = static_cast<size_t>(length * size_of(type));
    storage_.emplace_back(bytes / sizeof(Line) + 1);
    std::memset(storage_.back().data(), zeroed ? 0 : 0xa5, bytes);
    return {storage_.back().data(), nullptr};
  }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  std::deque<std::vector<Line>> storage_;
};

class Host final : public Place {
 public:
  TensorView bring(const TensorSpec&, const TensorView& tensor) override { return tensor; }
  ArraySpan fetch(const ResultArray& array) override { return {array.data, array.length}; }
  Memory& memory() override { return memory_; }
  Device device() const override { return {}; }

 private:
  VectorMemory memory_;
};

class Gpu final : public Place {
 public:
  TensorView bring(const TensorSpec& spec, const TensorView& tensor) override {
    const FormatInfo format = describe_format(spec.format, spec.rank);
    TensorView there = tensor;
    for (size_t l = 0; l < there.levels.size(); ++l) {
      const bool bits = format.levels[l].bits;
      upload(there.levels[l].pos, spec.index_type);
      upload(there.levels[l].crd, bits ? DType::Bool : spec.index_type);
    }
    upload(there.values, spec.type);
    return there;
  }
  ArraySpan fetch(const ResultArray& array) override {
    void* here = fetched_.allocate(array.type, array.length, false).data;
    if (array.length > 0)
      memory_.copy_to_host(here, array.data, array.length * size_of(array.type));
    return {here, array.length};
  }
  Memory& memory() override { return memory_; }
  Device device() const override { return kFirst; }

 private:
  static constexpr Device kFirst{Device::Kind::Cuda, 0};

  void upload(ArraySpan& array, DType type) {
    if (array.length == 0) return;
    void* there = memory_.allocate(type, array.length, false).data;
    memory_.copy_to_device(there, array.data, array.length * size_of(type));
    array.data = there;
  }

  CudaMemory memory_{kFirst, nullptr};
  VectorMemory fetched_;
};

}  // namespace

std::unique_ptr<Place> host_memory() { return std::make_unique<Host>(); }
std::unique_ptr<Place> first_gpu() { return std::make_unique<Gpu>(); }

}  // namespace tulle::differential
