// The memory that a compiled program runs in: copies operands to it and results back.
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

// The memory of this machine. Poisons results first, so that unwritten elements are detected.
std::unique_ptr<Place> host_memory();
// The first GPU. Throws a UserError if there is none.
std::unique_ptr<Place> first_gpu();

}  // namespace tulle::differential
