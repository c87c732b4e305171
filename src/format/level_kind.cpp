// The names of level kinds.
#include "format/level_kind.h"

#include <vector>

#include "support/check.h"

namespace tulle {

std::string_view text_of(LevelKind kind) {
  static constexpr std::string_view texts[] = {
#define X(name, text, ...) text,
      TULLE_LEVEL_KINDS(X)
#undef X
  };
  return texts[static_cast<size_t>(kind)];
}

std::string text_of_kinds(bool (*wanted)(LevelKind), std::string_view conjunction) {
  std::vector<std::string_view> texts;
  for (const LevelKind kind : kLevelKinds) {
    if (wanted(kind)) texts.push_back(text_of(kind));
  }
  std::string list;
  for (size_t at = 0; at < texts.size(); ++at) {
    const bool last = at + 1 == texts.size();
    if (at > 0) list += last ? concat(" ", conjunction, " ") : ", ";
    list += texts[at];
  }
  return list;
}

}  // namespace tulle
