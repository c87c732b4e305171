// The table of held structures.
#include "structures.h"

#include <mutex>
#include <pthread.h>
#include <string>
#include <unordered_map>

#include "tulle/error.h"

namespace tulle::shim {

namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<const HeldArrays>> by_structure;
};

// Never destroyed: patterns are still freed while the process ends. A fork waits until no thread
// changes the table.
Table& table() {
  static Table* const the_table = [] {
    static Table* made = new Table;
    pthread_atfork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); },
                   [] { made->mutex.unlock(); });
    return made;
  }();
  return *the_table;
}

}  // namespace

void hold_arrays(uint64_t structure, std::vector<OwnedTensor> arrays) {
  const Device device = arrays.empty() ? Device() : device_of(arrays[0].get());
  for (const OwnedTensor& array : arrays) {
    if (device_of(array.get()) == device) continue;
    throw UserError("The arrays of a structure are on two devices: " + to_string(device) + " and " +
                    to_string(device_of(array.get())) + ".");
  }
  auto held = std::make_shared<const HeldArrays>(HeldArrays{std::move(arrays), device});
  const std::lock_guard lock(table().mutex);
  table().by_structure[structure] = std::move(held);
}

void release_arrays(uint64_t structure) noexcept {
  std::shared_ptr<const HeldArrays> released;  // freed after the lock is released
  const std::lock_guard lock(table().mutex);
  const auto found = table().by_structure.find(structure);
  if (found == table().by_structure.end()) return;
  released = std::move(found->second);
  table().by_structure.erase(found);
}

std::weak_ptr<const HeldArrays> held_arrays(uint64_t structure) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().by_structure.find(structure);
  if (found == table().by_structure.end()) {
    throw UserError("There is no structure with the number " + std::to_string(structure) + ".");
  }
  return found->second;
}

}  // namespace tulle::shim
