// One call of a program: PyTorch's tensors to views of operands, arrays of results to PyTorch's
// tensors.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "memory.h"
#include "programs.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// Kept from call to call, so that a warm one allocates nothing but its results.
class CallFrame {
 public:
  explicit CallFrame(std::shared_ptr<const Prepared> prepared);

  // Checks that the tensors are what the program takes (types, ranks, lengths) and points the
  // views at them. `sizes` holds the sizes of the operands that are not plain, one after the other,
  // behind as many other numbers as `skipped` says; behind them may stand the numbers of their
  // structures, inverted.
  void bind(AtenTensorHandle sizes, std::span<const OwnedTensor> tensors, size_t skipped = 0);
  const std::vector<TensorView>& views() const { return views_; }
  const Prepared& prepared() const { return *prepared_; }
  const Device& device() const { return device_; }  // of the tensors

  // Lets the values of a result go to `out`, which must live as long as the call. To be said before
  // run(), which refuses a tensor that does not fit.
  void give(size_t result, AtenTensorHandle out) { outs_[result] = out; }

  // Runs on what was bound; the results stand until the next call.
  const std::vector<ResultTensor>& run();
  // The tensors of a result: structure arrays in the order of its layout, then values.
  OwnedTensor take_values(size_t result, const ResultTensor& found);
  OwnedTensor take_array(const TensorLayout& layout, size_t array, const ResultTensor& found);
  // Lets go of everything that belongs to the call.
  void clear();

 private:
  // Where all of them are; UserError if they are in two places.
  Device common_device(std::span<const OwnedTensor> tensors) const;
  // The tensor, or a copy of it that lives as long as the call: where it is not row-major, and
  // where it begins in the middle of what a GPU loads at once.
  AtenTensorHandle row_major(AtenTensorHandle tensor);
  AtenTensorHandle aligned(AtenTensorHandle tensor);
  // Sizes and memory of the results, checked.
  void place_results();
  bool can_be_written(AtenTensorHandle out) const;
  // Copies results that could not be written where they belong.
  void fill_outs();
  OwnedTensor operand_array(const ResultArray& found, size_t array, DType type) const;

  std::shared_ptr<const Prepared> prepared_;
  std::vector<TensorView> views_;
  std::span<const OwnedTensor> tensors_;  // of the call
  std::vector<OwnedTensor> copies_;       // of values that were not row-major or not aligned
  Device device_;
  std::vector<AtenTensorHandle> outs_;  // by result; null where none was given
  TorchMemory memory_;
  std::vector<ResultTensor> results_;
  int64_t code_bytes_;  // of the program, after the last call
};

}  // namespace tulle::shim
