// The structure arrays of patterns, held by the library, so that warm calls pass one number in
// place of the arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "devices.h"
#include "tensors.h"

namespace tulle::shim {

struct HeldArrays {
  std::vector<OwnedTensor> arrays;
  Device device;  // of all arrays
};

// Holds the arrays of the structure until release_arrays(). They are on one device.
void hold_arrays(uint64_t structure, std::vector<OwnedTensor> arrays);
void release_arrays(uint64_t structure) noexcept;

// The arrays of the structure; throws UserError if none are held. The pointer expires when they are
// released.
std::weak_ptr<const HeldArrays> held_arrays(uint64_t structure);

}  // namespace tulle::shim
