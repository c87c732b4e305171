// Grouping the levels of a result.
#include "lower/result_groups.h"

#include "support/check.h"

namespace tulle::lower {

std::vector<ResultGroup> result_groups(const Format& format) {
  std::vector<ResultGroup> groups;
  bool full_after_group = false;
  for (int l = 0; l < format.level_count(); ++l) {
    const LevelKind kind = format.levels()[static_cast<size_t>(l)].kind;
    if (is_full(kind)) {
      full_after_group = !groups.empty();
    } else if (stores_positions(kind)) {
      if (full_after_group) {
        unsupported("a result in format ", format.name(),
                    ": a compressed level below a dense one below a compressed one; ",
                    "ask for csf and convert");
      }
      groups.push_back({l, l});
    } else {
      TULLE_CHECK(!groups.empty(), "a singleton level below a compressed one");
      groups.back().last = l;
    }
  }
  return groups;
}

}  // namespace tulle::lower
