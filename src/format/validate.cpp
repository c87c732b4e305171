// The check of a pattern that comes from outside: positions and coordinates, in O(slots).
#include <unordered_map>

#include "format/pattern.h"
#include "support/check.h"

namespace tulle {

namespace {

// Walks one level after the other. Each level says of each slot which group it belongs to: slots of
// one group have equal coordinates in the run of levels (one, then branchless ones) that ends
// there.
class Validator {
 public:
  Validator(const Pattern& pattern, const std::string& tensor)
      : pattern_(pattern), tensor_(tensor) {}

  // Raises where something is wrong; returns whether the order of the coordinates is as the format
  // says, which by itself is for the caller to judge.
  bool run() {
    for (level_ = 0; level_ < pattern_.format().level_count(); ++level_) {
      stored_ = pattern_.stored(level_);
      const LevelLayout& layout = layout_of(level().kind);
      if (const std::string problem = layout.problem(stored_); !problem.empty()) fail(problem);
      if (!stores_coordinates(level().kind)) continue;
      const std::vector<int64_t> parents =
          is_branchless(level().kind) ? std::move(groups_) : layout.parents(stored_);
      check_range(parents);
      find_descent(parents);
      if (disorder_.empty()) groups_ = group(parents);
      if (!disorder_.empty()) return false;
    }
    return true;
  }

  // What run() found out of order.
  [[noreturn]] void fail_disorder() const { fail(disorder_); }

 private:
  const Level& level() const { return pattern_.format().levels()[static_cast<size_t>(level_)]; }
  int64_t crd(int64_t at) const { return stored_.crd(at); }
  int64_t slots() const { return stored_.slots; }

  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    user_error(tensor_, ": level ", level_, " (", tulle::text_of(level().kind), " over dimension ",
               level().expr.dimension, ", format ", pattern_.format().name(), "): ", parts...);
  }

  bool is_unused(int64_t at) const { return level().has_unused() && crd(at) == kUnused; }

  // Coordinates within the extent; unused slots after all that are used.
  void check_range(const std::vector<int64_t>& parents) const {
    const int64_t end = stored_.first + stored_.extent;
    for (int64_t at = 0; at < slots(); ++at) {
      if (is_unused(at)) continue;
      if (crd(at) < stored_.first || crd(at) >= end) {
        const int64_t size = pattern_.sizes()[static_cast<size_t>(level().expr.dimension)];
        fail("crd[", at, "] = ", crd(at), " is outside [", stored_.first, ", ", end,
             "); correct the coordinate or enlarge the dimension of size ", size, ".");
      }
      const auto index = static_cast<size_t>(at);
      if (at > 0 && parents[index] == parents[index - 1] && is_unused(at - 1)) {
        fail("crd[", at, "] = ", crd(at), " follows the unused slot crd[", at - 1, "] = ", kUnused,
             "; move the unused slots of each segment to its end.");
      }
    }
  }

  void find_descent(const std::vector<int64_t>& parents) {
    if (!level().ordered) return;
    for (int64_t at = 1; at < slots() && disorder_.empty(); ++at) {
      const auto index = static_cast<size_t>(at);
      if (parents[index] != parents[index - 1] || crd(at) >= crd(at - 1) || is_unused(at)) continue;
      disorder_ = concat("crd[", at, "] = ", crd(at), " follows crd[", at - 1, "] = ", crd(at - 1),
                         ", but the coordinates of a segment ascend; sort them, or declare the "
                         "level 'unordered'.");
    }
  }

  // Numbers the slots by (parent group, coordinate); two of one number are out of order where the
  // level is unique. In ordered levels equal ones are neighbours; otherwise a hash table finds
  // them.
  std::vector<int64_t> group(const std::vector<int64_t>& parents) {
    if (!is_branchless(level().kind)) scattered_ = false;
    scattered_ = scattered_ || !level().ordered;
    std::vector<int64_t> result(parents.size());
    std::unordered_map<std::pair<int64_t, int64_t>, int64_t, PairHash> seen;
    for (int64_t at = 0; at < slots() && disorder_.empty(); ++at) {
      const auto index = static_cast<size_t>(at);
      int64_t first = at;
      if (is_unused(at)) {
        // No two of them are one.
      } else if (scattered_) {
        first = seen.emplace(std::pair(parents[index], crd(at)), at).first->second;
      } else if (at > 0 && parents[index] == parents[index - 1] && crd(at) == crd(at - 1)) {
        first = result[index - 1];
      }
      if (first != at && level().unique) {
        disorder_ = concat("slots ", first, " and ", at, " have the same coordinates (", crd(at),
                           " at this level); add duplicates up, or declare the level 'nonunique'.");
      }
      result[index] = first;
    }
    return result;
  }

  struct PairHash {
    size_t operator()(const std::pair<int64_t, int64_t>& pair) const {
      const auto mixed = static_cast<uint64_t>(pair.first) * 0x9E3779B97F4A7C15ULL;
      return std::hash<uint64_t>()(mixed ^ (mixed >> 29) ^ static_cast<uint64_t>(pair.second));
    }
  };

  const Pattern& pattern_;
  const std::string& tensor_;
  int level_ = 0;
  StoredLevel stored_;      // that level
  bool scattered_ = false;  // equal tuples need not be neighbours in the current run of levels
  std::vector<int64_t> groups_;
  std::string disorder_;  // in that level
};

}  // namespace

void validate(const Pattern& pattern, const std::string& tensor) {
  Validator validator(pattern, tensor);
  if (!validator.run()) validator.fail_disorder();
}

bool is_in_order(const Pattern& pattern, const std::string& tensor) {
  return Validator(pattern, tensor).run();
}

}  // namespace tulle
