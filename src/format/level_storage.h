// The arrays of a level.
#pragma once

#include <cstdint>
#include <memory>

#include "tulle/dtype.h"

namespace tulle {

// A read-only array that someone else may own.
struct ArrayView {
  const void* data = nullptr;
  int64_t length = 0;
  std::shared_ptr<const void> owner;  // keeps `data` alive; null where the caller does

  int64_t at(int64_t index, DType type) const;  // an Int32, Int64 or Bool element
};

// Those that the level's kind does not store are empty.
struct LevelStorage {
  ArrayView pos;  // positions: one more than the level above has slots
  ArrayView crd;  // coordinates, or marks: one a slot
};

}  // namespace tulle
