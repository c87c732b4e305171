// Where a compiled program runs: operands are brought there, and results fetched.
#pragma once

#include <memory>

#include "tulle/tulle.h"

namespace tulle::differential {

class Place {
 public:
  virtual ~Place() = default;
  virtual TensorView bring(const TensorSpec& spec, const TensorView& tensor) = 0;
  virtual ArraySpan fetch(const ResultArray& array) = 0;
  virtual Memory& memory() = 0;
  virtual Device device() const = 0;
};

// This machine's memory, in which results are poisoned first, so that what is never written shows.
std::unique_ptr<Place> host_memory();
// The first GPU. UserError where there is none.
std::unique_ptr<Place> first_gpu();

}  // namespace tulle::differential
