// Finds equal slots with hash tables, one per share of the hash values.
#include "format/find_repeated.h"

namespace tulle {

namespace {

// A hash table of slots with open addressing, at most half full.
template <typename Index>
class SlotTable {
 public:
  explicit SlotTable(const RunCoordinates<Index>& coordinates) : coordinates_(coordinates) {}

  // Returns the slot in the table with the same parent and coordinates. If there is none, inserts
  // this slot and returns it.
  int64_t find_or_insert(int64_t parent, int64_t slot, uint64_t hash) {
    if (2 * (used_ + 1) > places_.size()) grow();
    TableCell& place = place_of(parent, slot, hash);
    if (place.slot >= 0) return place.slot;
    place = {parent, slot};
    ++used_;
    return slot;
  }

 private:
  struct TableCell {
    int64_t parent = 0, slot = -1;
  };

  TableCell& place_of(int64_t parent, int64_t slot, uint64_t hash) {
    const size_t mask = places_.size() - 1;
    size_t at = hash & mask;
    while (places_[at].slot >= 0 &&
           !(places_[at].parent == parent && coordinates_.are_one(places_[at].slot, slot))) {
      at = (at + 1) & mask;
    }
    return places_[at];
  }

  void grow() {
    std::vector<TableCell> old(std::max<size_t>(64, 2 * places_.size()));
    old.swap(places_);
    for (const TableCell& place : old) {
      if (place.slot < 0) continue;
      place_of(place.parent, place.slot, coordinates_.hash(place.parent, place.slot)) = place;
    }
  }

  const RunCoordinates<Index>& coordinates_;
  std::vector<TableCell> places_;
  size_t used_ = 0;
};

// Searches the slots whose hash falls to `share` of `shares`.
template <typename Index>
std::optional<RepeatedSlots> find_in_share(const SlotRun& run, uint64_t share, uint64_t shares) {
  const RunCoordinates<Index> coordinates(run);
  SlotTable<Index> table(coordinates);
  std::optional<RepeatedSlots> found;
  for_parents(run, {0, run.slots()}, [&](int64_t parent, SlotRange slots, bool) {
    for (int64_t at = slots.begin; at < slots.end && !found; ++at) {
      const uint64_t hash = coordinates.hash(parent, at);
      if ((hash >> 40) % shares != share || coordinates.is_unused(at)) continue;
      const int64_t first = table.find_or_insert(parent, at, hash);
      if (first != at) found = {first, at};
    }
  });
  return found;
}

}  // namespace

std::optional<RepeatedSlots> find_repeated(const SlotRun& run, DType index_type,
                                           Parallelism& parallelism, int threads) {
  std::vector<std::optional<RepeatedSlots>> found(static_cast<size_t>(threads));
  parallel_for_or_throw(parallelism, threads, [&](int share) {
    const auto at = static_cast<size_t>(share);
    found[at] = index_type == DType::Int32 ? find_in_share<int32_t>(run, at, found.size())
                                           : find_in_share<int64_t>(run, at, found.size());
  });
  std::optional<RepeatedSlots> least;
  for (const auto& one : found) {
    if (one && (!least || one->second < least->second)) least = one;
  }
  return least;
}

}  // namespace tulle
