// The arrays of a level.
#pragma once

#include <cstdint>
#include <memory>

#include "support/check.h"
#include "tulle/dtype.h"

namespace tulle {

// A read-only array, with an optional owner.
struct ArrayView {
  const void* data = nullptr;
  int64_t length = 0;
  std::shared_ptr<const void> owner;  // keeps `data` alive; null if the caller does

  // Reads an Int32, Int64 or Bool element.
  int64_t at(int64_t index, DType type) const {
    TULLE_CHECK(index >= 0 && index < length, "index ", index, " of ", length);
    switch (type) {
      case DType::Bool:
        return static_cast<const uint8_t*>(data)[index];
      case DType::Int32:
        return static_cast<const int32_t*>(data)[index];
      default:
        return static_cast<const int64_t*>(data)[index];
    }
  }
};

// Arrays that the level kind does not store are empty.
struct LevelStorage {
  ArrayView pos;  // positions: one for each slot of the level above, and one more
  ArrayView crd;  // coordinates or marks: one per slot
};

}  // namespace tulle
