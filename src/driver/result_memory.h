// The caller's memory, as the runtime uses it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/executable.h"
#include "tulle/tulle.h"

namespace tulle {

// Allocates in the caller's memory and records the handle of each result array. Data derived from
// an operand's structure is cached under that structure (cache/kept_data.h).
class ResultMemory final : public runtime::DeviceMemory {
 public:
  ResultMemory(tulle::Memory& memory, const std::vector<ResultLayout>& results,
               std::vector<void*>& handles, const std::vector<TensorSpec>& operands,
               const std::vector<TensorView>& views, const Device& device)
      : memory_(memory),
        results_(results),
        handles_(handles),
        operands_(operands),
        views_(views),
        device_(device) {}

  void* allocate(size_t array, const loop::BufferNode& buffer, int64_t elements,
                 bool zeroed) override;
  void* allocate_temporary(int64_t bytes) override;
  void release_temporary(void* data) override;
  std::span<void* const> kept(const std::string& tensor, const std::string& what) override;
  bool keep(const std::string& tensor, const std::string& what, std::span<void* const> arrays,
            int64_t bytes) override;

 private:
  // The operand's number. The number of operands if the tensor is not an operand.
  size_t operand_number(const std::string& tensor) const;
  // The cache's name for data derived from that operand. Parts of a composite operand share one
  // structure, so the name contains the part's number.
  std::string cache_name(size_t operand, const std::string& what) const;
  tulle::Memory::Block block_for(size_t array, DType type, int64_t elements, bool zeroed);

  tulle::Memory& memory_;
  const std::vector<ResultLayout>& results_;
  std::vector<void*>& handles_;
  const std::vector<TensorSpec>& operands_;
  const std::vector<TensorView>& views_;
  Device device_;
  std::vector<tulle::Memory::Block> temporaries_;  // on a GPU
};

}  // namespace tulle
