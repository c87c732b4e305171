// Validates a pattern: positions and coordinates, in O(slots).
#include <algorithm>
#include <limits>

#include "format/find_repeated.h"
#include "format/pattern.h"
#include "format/slot_run.h"
#include "support/check.h"
#include "support/mutant.h"
#include "support/parallelism.h"

namespace tulle {

namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// The first slot with each kind of fault.
struct Faults {
  int64_t wrong = kNone;       // outside the extent, or after an unused slot
  int64_t descending = kNone;  // less than its predecessor
  int64_t repeated = kNone;    // equal to its predecessor

  void add(const Faults& other) {
    wrong = std::min(wrong, other.wrong);
    descending = std::min(descending, other.descending);
    repeated = std::min(repeated, other.repeated);
  }
};

// Checks the coordinates of the run's last level in a range of slots. It compares each coordinate
// with the previous one, which may lie before the range.
template <typename Index>
Faults check_range(const SlotRun& run, SlotRange range) {
  const RunCoordinates<Index> coordinates(run);
  const Index* crd = coordinates.last();
  const Level& level = *run.last().level;
  const bool has_unused = level.has_unused();
  const size_t above = run.levels.size() - 1;
  const int64_t first = run.last().first, end = first + run.last().extent;
  Faults faults;
  for_parents(run, range, [&](int64_t, SlotRange slots, bool begins) {
    for (int64_t at = slots.begin; at < slots.end; ++at) {
      const int64_t here = crd[at];
      if (has_unused && here == kUnused) continue;
      if (here < first || here >= end) faults.wrong = std::min(faults.wrong, at);
      if (begins && at == slots.begin) continue;
      const int64_t before = crd[at - 1];
      if ((before < here && !has_unused) || !coordinates.are_one(at, at - 1, above)) continue;
      if (has_unused && before == kUnused) faults.wrong = std::min(faults.wrong, at);
      if (before > here) faults.descending = std::min(faults.descending, at);
      if (before == here) faults.repeated = std::min(faults.repeated, at);
    }
  });
  return faults;
}

// Checks one level after the other, each in pieces in parallel.
class Validator {
 public:
  Validator(const Pattern& pattern, const std::string& tensor, Parallelism& parallelism)
      : pattern_(pattern), tensor_(tensor), parallelism_(parallelism) {}

  // Throws if the structure is wrong. Returns whether the order of coordinates is as the format
  // requires; the caller decides whether a different order is an error.
  bool run() {
    for (level_ = 0; level_ < pattern_.format().level_count(); ++level_) {
      const StoredLevel stored = pattern_.stored(level_);
      check_arrays(stored);
      if (!is_branchless(level().kind)) {
        number_groups();
        run_.levels.clear();
      }
      if (!stores_coordinates(level().kind)) continue;
      run_.levels.push_back(stored);
      check_coordinates();
      if (disorder_.empty()) check_across_parents();
      if (!disorder_.empty()) return false;
    }
    return true;
  }

  // Throws the error for the disorder that run() found.
  [[noreturn]] void fail_disorder() const { fail(disorder_); }

 private:
  const Level& level() const { return pattern_.format().levels()[static_cast<size_t>(level_)]; }
  int64_t crd(int64_t at) const { return run_.last().crd(at); }

  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    user_error(tensor_, ": level ", level_, " (", tulle::text_of(level().kind), " over dimension ",
               level().expr.dimension, ", format ", pattern_.format().name(), "): ", parts...);
  }

  int chunks(int64_t count) const {
    constexpr int64_t least = 1 << 14;  // elements that justify a thread
    return static_cast<int>(
        std::clamp<int64_t>(count / least, 1, std::max(1, parallelism_.threads())));
  }

  void check_arrays(const StoredLevel& stored) const {
    const LevelLayout& layout = layout_of(level().kind);
    const int64_t count = layout.checked_elements(stored);
    const int pieces = chunks(count);
    parallel_for_or_throw(parallelism_, pieces, [&](int piece) {
      const SlotRange range = piece_of(count, piece, pieces);
      const std::string problem = layout.problem(stored, range.begin, range.end);
      if (!problem.empty()) fail(problem);
    });
  }

  static SlotRange piece_of(int64_t count, int piece, int pieces) {
    const auto bound = [&](int at) { return count / pieces * at + count % pieces * at / pieces; };
    return {bound(piece), bound(piece + 1)};
  }

  Faults find_faults() const {
    const int pieces = chunks(run_.slots());
    std::vector<Faults> found(static_cast<size_t>(pieces));
    parallel_for_or_throw(parallelism_, pieces, [&](int piece) {
      const SlotRange range = piece_of(run_.slots(), piece, pieces);
      found[static_cast<size_t>(piece)] = pattern_.index_type() == DType::Int32
                                              ? check_range<int32_t>(run_, range)
                                              : check_range<int64_t>(run_, range);
    });
    Faults faults;
    for (const Faults& one : found) faults.add(one);
    return faults;
  }

  void check_coordinates() {
    const Faults faults = find_faults();
    if (faults.wrong != kNone && !mutant("coordinates-unchecked")) fail_wrong(faults.wrong);
    if (level().ordered && faults.descending != kNone && !mutant("order-unchecked")) {
      const int64_t at = faults.descending;
      disorder_ =
          concat("crd[", at, "] = ", crd(at), " follows crd[", at - 1, "] = ", crd(at - 1),
                 ", but the coordinates of a segment must ascend; sort them, or declare the "
                 "level 'unordered'.");
      return;
    }
    if (!level().unique) return;
    if (const auto repeated = find_repeated_slots(faults);
        repeated && !mutant("repetitions-unchecked")) {
      const auto [first, second] = *repeated;
      disorder_ =
          concat("slots ", first, " and ", second, " have the same coordinates (", crd(second),
                 " at this level); sum the duplicates, or declare the level 'nonunique'.");
    }
  }

  // Slots with equal coordinates are read as one slot, so the coordinates below them must ascend
  // across all of them.
  void check_across_parents() {
    if (groups_.empty() || !level().ordered) return;
    const size_t above = run_.levels.size() - 1;
    int64_t before = kNone;  // the last used slot
    int64_t segment = kNone;
    for_used([&](int64_t parent, int64_t at) {
      const bool follows =
          !mutant("order-across-parents-unchecked") && before != kNone && segment != parent &&
          disorder_.empty() &&
          groups_[static_cast<size_t>(segment)] == groups_[static_cast<size_t>(parent)];
      if (follows && have_one_coordinate(before, at, above) &&
          (crd(at) < crd(before) || (level().unique && crd(at) == crd(before)))) {
        disorder_ = concat(
            "crd[", at, "] = ", crd(at), " follows crd[", before, "] = ", crd(before),
            " under a slot with the same coordinates, but coordinates ",
            "below such slots must ascend across them; merge these segments in order, or use coo.");
      }
      before = at;
      segment = parent;
    });
  }

  // Numbers the groups of slots that are read as one slot. Only needed if several slots may be
  // equal and the level below must be ordered across them.
  void number_groups() {
    const std::vector<int64_t> parents = std::move(groups_);
    groups_.clear();
    const bool is_asked = stores_coordinates(level().kind) && level().ordered;
    if (!is_asked || run_.levels.empty() || run_.last().level->unique) return;
    if (std::any_of(run_.levels.begin(), run_.levels.end(),
                    [](const StoredLevel& one) { return !one.level->ordered; })) {
      return;
    }
    const auto group_of = [&](int64_t parent) {
      return parents.empty() ? parent : parents[static_cast<size_t>(parent)];
    };
    groups_.assign(static_cast<size_t>(run_.slots()), 0);
    int64_t before = kNone, above = kNone, groups = 0;
    for_used([&](int64_t parent, int64_t at) {
      const bool is_one = before != kNone && group_of(above) == group_of(parent) &&
                          have_one_coordinate(before, at, run_.levels.size());
      groups_[static_cast<size_t>(at)] = is_one ? groups : ++groups;
      before = at;
      above = parent;
    });
  }

  // Calls visit(parent, slot) for the used slots of the run.
  template <typename Visit>
  void for_used(const Visit& visit) const {
    for_parents(run_, {0, run_.slots()}, [&](int64_t parent, SlotRange slots, bool) {
      for (int64_t at = slots.begin; at < slots.end; ++at) {
        if (!is_unused(at)) visit(parent, at);
      }
    });
  }

  bool is_unused(int64_t slot) const {
    return std::any_of(run_.levels.begin(), run_.levels.end(), [&](const StoredLevel& one) {
      return one.level->has_unused() && one.crd(slot) == kUnused;
    });
  }

  // Compares the coordinates in each of the outermost `levels` of the run.
  bool have_one_coordinate(int64_t a, int64_t b, size_t levels) const {
    return std::all_of(run_.levels.begin(),
                       run_.levels.begin() + static_cast<std::ptrdiff_t>(levels),
                       [&](const StoredLevel& one) { return one.crd(a) == one.crd(b); });
  }

  [[noreturn]] void fail_wrong(int64_t at) const {
    const int64_t first = run_.last().first, end = first + run_.last().extent;
    if (crd(at) >= first && crd(at) < end) {
      fail("crd[", at, "] = ", crd(at), " follows the unused slot crd[", at - 1, "] = ", kUnused,
           "; move the unused slots of each segment to its end.");
    }
    const int64_t size = pattern_.sizes()[static_cast<size_t>(level().expr.dimension)];
    fail("crd[", at, "] = ", crd(at), " is outside [", first, ", ", end,
         "); correct the coordinate or enlarge the dimension of size ", size, ".");
  }

  // In ordered levels, equal slots are adjacent; in unordered levels they may be anywhere.
  std::optional<RepeatedSlots> find_repeated_slots(const Faults& faults) const {
    const bool ordered = std::all_of(run_.levels.begin(), run_.levels.end(),
                                     [](const StoredLevel& one) { return one.level->ordered; });
    if (!ordered) {
      return find_repeated(run_, pattern_.index_type(), parallelism_, chunks(run_.slots()));
    }
    if (faults.repeated == kNone) return std::nullopt;
    return RepeatedSlots{faults.repeated - 1, faults.repeated};
  }

  const Pattern& pattern_;
  const std::string& tensor_;
  Parallelism& parallelism_;
  int level_ = 0;
  SlotRun run_;  // ends with that level
  std::vector<int64_t>
      groups_;            // the group of each slot directly above the run; empty: all slots differ
  std::string disorder_;  // the message about disorder in that level
};

}  // namespace

void validate(const Pattern& pattern, const std::string& tensor, Parallelism& parallelism) {
  Validator validator(pattern, tensor, parallelism);
  if (!validator.run()) validator.fail_disorder();
}

void validate(const Pattern& pattern, const std::string& tensor) {
  NoParallelism serial;
  validate(pattern, tensor, serial);
}

bool is_in_order(const Pattern& pattern, const std::string& tensor, Parallelism& parallelism) {
  return Validator(pattern, tensor, parallelism).run();
}

}  // namespace tulle
