// Decomposes tensors into the parts of a composite format.
#pragma once

#include <memory>
#include <vector>

#include "schedule/decompositions.h"
#include "tulle/tulle.h"

namespace tulle {

// Memory on the device of the options, freed with the object: process memory on the CPU; on a GPU
// memory of the driver, or temporaries of another Memory.
class TemporaryMemory final : public Memory {
 public:
  explicit TemporaryMemory(const RunOptions& options);
  TemporaryMemory(const RunOptions& options, Memory& memory);
  TemporaryMemory(const TemporaryMemory&) = delete;
  TemporaryMemory& operator=(const TemporaryMemory&) = delete;
  ~TemporaryMemory() override;
  Block allocate(DType type, int64_t length, bool zeroed) override;
  void release_temporary(const Block& block) override;
  std::function<void()> keep_temporary(const Block& block) override;

 private:
  struct Held {
    Block block;
    int64_t bytes;
  };
  void forget(const Block& block);

  std::unique_ptr<CudaMemory> own_;
  Memory* memory_ = nullptr;  // on a GPU
  std::vector<Held> held_;
};

// Throws UserError unless a call gives the number of operands that its program takes.
void check_operand_count(size_t expected, size_t given);

// The view of a result, to use it as an operand.
TensorView view_of(const ResultTensor& result);

// The operand specs with the composite formats of the decomposition steps. Throws UserError that
// points at a step if its operand does not exist or its format is not composite.
std::vector<TensorSpec> decomposed_specs(
    const std::vector<TensorSpec>& given,
    const std::vector<schedule::Decomposition>& decompositions);

// Throws UserError that points at a step if its operand is dense.
void require_sparse(const std::vector<TensorSpec>& given,
                    const std::vector<schedule::Decomposition>& decompositions);

// A program for operands of the given formats. Every run decomposes some of them and runs `inside`
// on the parts.
std::shared_ptr<const Program> decomposing_program(
    const std::vector<TensorSpec>& given,
    const std::vector<schedule::Decomposition>& decompositions,
    std::shared_ptr<const Program> inside);

}  // namespace tulle
