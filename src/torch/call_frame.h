// A call of a program: binds PyTorch tensors to operands, and returns results as PyTorch tensors.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "memory.h"
#include "programs.h"
#include "structures.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

// Reused from call to call, so that a warm call allocates only its results.
class CallFrame {
 public:
  explicit CallFrame(std::shared_ptr<const Prepared> prepared);

  // Checks the tensors and points the views at them. `sizes` holds `skipped` other numbers, then
  // the sizes of the operands that are not plain, one operand after the other, then optionally the
  // bitwise complements of their structure numbers. With these numbers, `tensors` may omit all
  // structure arrays, which the library holds (structures.h). Arrays that are not those of a held
  // structure are validated in each call.
  void bind(AtenTensorHandle sizes, std::span<const OwnedTensor> tensors, size_t skipped = 0);
  const std::vector<TensorView>& views() const { return views_; }
  const Prepared& prepared() const { return *prepared_; }
  const Device& device() const { return device_; }  // the device of the tensors

  // Sets the tensor for the values of a result. It must live as long as the call. Call it before
  // run(), which throws if the tensor does not fit.
  void give(size_t result, AtenTensorHandle out) { outs_[result] = out; }

  // Runs on the bound tensors. The results are valid until the next call.
  const std::vector<ResultTensor>& run();
  // The tensors of a result: structure arrays in the order of its layout, then values.
  OwnedTensor take_values(size_t result, const ResultTensor& found);
  OwnedTensor take_array(const TensorLayout& layout, size_t array, const ResultTensor& found);
  // Releases everything that belongs to the call.
  void clear();

 private:
  // An operand of the call.
  struct Bound {
    std::span<const OwnedTensor> arrays;  // of its structure
    const OwnedTensor* values = nullptr;
    // If the library holds the arrays: their number, and a reference for the time of the call.
    uint64_t structure = 0;
    std::weak_ptr<const HeldArrays> held;
    std::shared_ptr<const HeldArrays> locked;
    // If the arrays are given and the library holds them: a reference for the time of the call.
    std::shared_ptr<const HeldArrays> known;
  };

  // Finds the arrays and values of each operand. `structures` are the numbers of the structures if
  // `tensors` omits their arrays, else null.
  void find_tensors(std::span<const OwnedTensor> tensors, const int64_t* structures);
  // Finds the held structure of that number.
  static void find_held(const TensorLayout& layout, uint64_t structure, Bound& bound);
  // Binds an operand that is not plain.
  void bind_structure(size_t operand, const int64_t* numbers);
  // The device of all tensors; throws UserError if they are on different devices.
  Device common_device() const;
  // The tensor, or a copy that lives as long as the call: if it is not row-major, or if its address
  // is not aligned for vector loads of a GPU.
  AtenTensorHandle row_major(AtenTensorHandle tensor);
  AtenTensorHandle aligned(AtenTensorHandle tensor);
  // Sets and checks sizes and memory of the results.
  void place_results();
  bool can_be_written(AtenTensorHandle out) const;
  // Copies results that could not be written to their tensors directly.
  void fill_outs();
  OwnedTensor operand_array(const ResultArray& found, size_t array, DType type) const;

  std::shared_ptr<const Prepared> prepared_;
  std::vector<TensorView> views_;
  std::vector<Bound> bound_;         // by operand
  std::vector<OwnedTensor> copies_;  // of tensors that are not row-major or not aligned
  Device device_;
  std::vector<AtenTensorHandle> outs_;  // by result; null if none was given
  TorchMemory memory_;
  std::vector<ResultTensor> results_;
  int64_t code_bytes_;  // of the program after the last call
};

}  // namespace tulle::shim
