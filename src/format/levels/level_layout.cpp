// Which class serves which kind.
#include "format/levels/level_layout.h"

#include "format/levels/bitmap.h"
#include "format/levels/compressed.h"
#include "format/levels/dense.h"
#include "format/levels/padded.h"
#include "format/levels/ragged.h"
#include "format/levels/range.h"
#include "format/levels/singleton.h"
#include "support/check.h"

namespace tulle {

std::string LevelSize::problem() const {
  return concat("has ", found, " elements, but ", expected, " are needed: ", because);
}

int64_t ArrayView::at(int64_t index, DType type) const {
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

const LevelLayout& layout_of(LevelKind kind) {
  static const LevelLayout* const layouts[] = {
#define X(name, text, ...) new name##Layout,
      TULLE_LEVEL_KINDS(X)
#undef X
  };
  return *layouts[static_cast<size_t>(kind)];
}

}  // namespace tulle
