// Tensors taken apart on their way into a program.
#pragma once

#include <memory>
#include <vector>

#include "schedule/decompositions.h"
#include "tulle/tulle.h"

namespace tulle {

// Memory of the device that the options name, freed with the object: of this process, or on a GPU
// from the driver or temporaries of another memory.
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
  Memory* memory_ = nullptr;  // of a GPU
  std::vector<Held> held_;
};

// A result as an operand.
TensorView view_of(const ResultTensor& result);

// The operands as the program `inside` takes them: those of the steps in composite formats.
// UserError, pointing at a step, where its operand is not there or its format is not a composite.
std::vector<TensorSpec> decomposed_specs(
    const std::vector<TensorSpec>& given,
    const std::vector<schedule::Decomposition>& decompositions);

// UserError, pointing at a step, where its operand is dense.
void require_sparse(const std::vector<TensorSpec>& given,
                    const std::vector<schedule::Decomposition>& decompositions);

// A program for operands of the given formats that takes some apart first, on every run, and runs
// `inside` on the parts.
std::shared_ptr<const Program> decomposing_program(
    const std::vector<TensorSpec>& given,
    const std::vector<schedule::Decomposition>& decompositions,
    std::shared_ptr<const Program> inside);

}  // namespace tulle
