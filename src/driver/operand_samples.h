// Samples the arrays of operands for the statistics that plans need.
#pragma once

#include <cstdint>
#include <vector>

#include "format/format.h"
#include "tulle/tulle.h"

namespace tulle {

// Samples arrays that the host can read. An operand whose arrays it cannot read gets the answer of
// an operand about which nothing is known.
class OperandSamples {
 public:
  // `spec` must outlive the object.
  OperandSamples(const TensorSpec& spec, const Format& format);

  // The share of distinct coordinates in the last level that stores coordinates. It is computed
  // once per array; the address and a few coordinates identify an array.
  double distinct_share(const TensorView& view, const Device& device) const;

  // The number of entries among the values. Samples the marks of bitmaps.
  int64_t entries(const TensorView& view, const Device& device) const;

 private:
  const TensorSpec& spec_;
  int coordinate_level_ = -1;  // the last level that stores coordinates, or -1
  int marked_level_ = -1;      // the level that marks its entries, or -1
};

}  // namespace tulle
