// Maps structures to the arrays derived from them.
#include "cache/kept_data.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "tulle/tulle.h"

namespace tulle {

namespace {

struct KeptArrays {
  int device;
  std::string what;
  std::vector<void*> arrays;
  int64_t bytes;
  std::vector<std::function<void()>> release;
};

struct KeptArraysTable {
  std::mutex mutex;
  // By pointer, so that arrays stay in place when others are added.
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<KeptArrays>>> by_structure;

  const KeptArrays* find(uint64_t structure, int device, const std::string& what) const {
    const auto found = by_structure.find(structure);
    if (found == by_structure.end()) return nullptr;
    const auto at = std::find_if(found->second.begin(), found->second.end(), [&](const auto& kept) {
      return kept->device == device && kept->what == what;
    });
    return at == found->second.end() ? nullptr : at->get();
  }
};

// Never destroyed: structures are still forgotten while the process ends.
KeptArraysTable& table() {
  static KeptArraysTable* const the_table = new KeptArraysTable;
  return *the_table;
}

}  // namespace

std::span<void* const> find_kept(uint64_t structure, int device, const std::string& what) {
  if (structure == 0) return {};
  const std::lock_guard lock(table().mutex);
  const KeptArrays* kept = table().find(structure, device, what);
  return kept ? std::span<void* const>(kept->arrays) : std::span<void* const>();
}

void keep_arrays(uint64_t structure, int device, const std::string& what,
                 std::span<void* const> arrays, int64_t bytes,
                 std::vector<std::function<void()>> release) {
  const std::lock_guard lock(table().mutex);
  table().by_structure[structure].push_back(std::make_unique<KeptArrays>(
      KeptArrays{device, what, {arrays.begin(), arrays.end()}, bytes, std::move(release)}));
}

uint64_t new_structure() noexcept {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

void forget_structure(uint64_t structure) noexcept {
  std::vector<std::unique_ptr<KeptArrays>> gone;
  {
    const std::lock_guard lock(table().mutex);
    const auto found = table().by_structure.find(structure);
    if (found == table().by_structure.end()) return;
    gone = std::move(found->second);
    table().by_structure.erase(found);
  }
  for (const auto& kept : gone) {
    for (const auto& release : kept->release) release();
  }
}

std::vector<KeptData> kept_data(uint64_t structure) {
  const std::lock_guard lock(table().mutex);
  std::vector<KeptData> found;
  const auto all = table().by_structure.find(structure);
  if (all == table().by_structure.end()) return found;
  for (const auto& kept : all->second) found.push_back({kept->what, kept->bytes});
  return found;
}

}  // namespace tulle
