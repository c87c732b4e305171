// Groups the levels of a result.
#include "lower/result/result_groups.h"

#include "support/check.h"

namespace tulle::lower {

std::vector<ResultGroup> result_groups(const Format& format) {
  std::vector<ResultGroup> groups;
  for (int l = 0; l < format.level_count(); ++l) {
    const LevelKind kind = format.levels()[static_cast<size_t>(l)].kind;
    if (is_direct(kind) && !stores_marks(kind)) continue;
    if (is_branchless(kind)) {
      TULLE_CHECK(!groups.empty(), "a branchless level below one that stores coordinates");
      groups.back().last = l;
    } else {
      groups.push_back({l, l, !has_width(kind) && !is_direct(kind)});
    }
  }
  return groups;
}

}  // namespace tulle::lower
