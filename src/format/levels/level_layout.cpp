// The layout class of each level kind.
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

const LevelLayout& layout_of(LevelKind kind) {
  static const LevelLayout* const layouts[] = {
#define X(name, text, ...) new name##Layout,
      TULLE_LEVEL_KINDS(X)
#undef X
  };
  return *layouts[static_cast<size_t>(kind)];
}

}  // namespace tulle
