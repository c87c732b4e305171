// The structure arrays of patterns, held by the library, so that warm calls pass one number in
// place of the arrays.
//
// A held structure is valid: it was validated, or the Python package, which proves that by the
// trust token, vouches for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "devices.h"
#include "prepared.h"
#include "tensors.h"
#include "tulle/tulle.h"

namespace tulle::shim {

struct HeldArrays {
  uint64_t structure = 0;
  std::vector<OwnedTensor> arrays;
  std::vector<ArraySpan> spans;  // the memory of the arrays when they were checked
  Device device;                 // of all arrays
  std::string long_form;         // of the format
  DType index_type = DType::Int64;
  std::vector<int64_t> numbers;  // the sizes; for a composite format also the counts of the parts
  int64_t value_count = 0;
  // PyTorch's count of writes to the arrays when they were checked; negative if it does not count
  // them, because an array was made in inference mode.
  int64_t version = -1;

  // Throws UserError unless the structure is one of such an operand.
  void check_fits(const TensorLayout& layout) const;
  // Throws UserError if the operand has other sizes, or if an array was given other memory.
  void check_same(const TensorLayout& layout, const int64_t* sizes) const;
};

// A number for a structure. Numbers are random, so that no caller finds one by chance.
uint64_t new_structure_number();

// The token by which the Python package vouches for structures. Throws UserError if it was taken
// before.
int64_t take_trust_token();
bool is_trust_token(int64_t token);

// Holds a structure until release_arrays().
void hold_arrays(HeldArrays held);
void release_arrays(uint64_t structure) noexcept;

// The arrays of the structure; throws UserError if none are held. The pointer expires when they are
// released.
std::weak_ptr<const HeldArrays> held_arrays(uint64_t structure);

// The held structure that consists of these arrays and was not written to since; null if there is
// none.
std::shared_ptr<const HeldArrays> known_arrays(const TensorLayout& layout,
                                               std::span<const ArraySpan> arrays,
                                               const int64_t* numbers, int64_t value_count);

// The number of writes to the arrays that PyTorch has counted; negative if it does not count them.
int64_t version_of(std::span<const OwnedTensor> arrays);

}  // namespace tulle::shim
