// The table of held structures.
#include "structures.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <random>
#include <string>
#include <unordered_map>

#include "tulle/error.h"

namespace tulle::shim {

namespace {

using Held = std::shared_ptr<const HeldArrays>;

struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, Held> by_structure;
  std::unordered_multimap<const void*, uint64_t> by_address;  // of the first array
  std::mt19937_64 random{(uint64_t{std::random_device()()} << 32) ^ std::random_device()()};
  int64_t token = 0;  // 0 until it is taken
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

// A positive number whose complement is negative.
uint64_t draw(Table& table) {
  uint64_t number = 0;
  while (number == 0 || table.by_structure.contains(number)) number = table.random() >> 2;
  return number;
}

const void* address_of(const HeldArrays& held) {
  return held.spans.empty() ? nullptr : held.spans[0].data;
}

// Removes the structure from the table and returns it.
Held remove(Table& table, uint64_t structure) {
  const auto found = table.by_structure.find(structure);
  if (found == table.by_structure.end()) return nullptr;
  Held removed = std::move(found->second);
  table.by_structure.erase(found);
  const auto [begin, end] = table.by_address.equal_range(address_of(*removed));
  const auto entry =
      std::find_if(begin, end, [&](const auto& item) { return item.second == structure; });
  if (entry != end) table.by_address.erase(entry);
  return removed;
}

bool is_same(const ArraySpan& a, const ArraySpan& b) {
  return a.data == b.data && a.length == b.length;
}

bool matches(const HeldArrays& held, const TensorLayout& layout, std::span<const ArraySpan> arrays,
             const int64_t* numbers, int64_t value_count) {
  return held.value_count == value_count && held.index_type == layout.spec.index_type &&
         held.numbers.size() == layout.number_count() &&
         std::equal(held.numbers.begin(), held.numbers.end(), numbers) &&
         std::equal(held.spans.begin(), held.spans.end(), arrays.begin(), arrays.end(), is_same) &&
         held.long_form == layout.long_form;
}

}  // namespace

void HeldArrays::check_fits(const TensorLayout& layout) const {
  if (long_form == layout.long_form && index_type == layout.spec.index_type &&
      numbers.size() == layout.number_count()) {
    return;
  }
  throw UserError(layout.spec.name + ": expected a structure in the format " + layout.long_form +
                  ", but the structure has the format " + long_form + ", or another index type.");
}

void HeldArrays::check_same(const TensorLayout& layout, const int64_t* sizes) const {
  if (!std::equal(numbers.begin(), numbers.end(), sizes)) {
    throw UserError(layout.spec.name + ": the sizes are not those of the structure.");
  }
  for (size_t at = 0; at < arrays.size(); ++at) {
    const AtenTensorHandle array = arrays[at].get();
    if (data_of(array) == spans[at].data && element_count(array) == spans[at].length) continue;
    throw UserError(layout.spec.name +
                    ": an array of the structure was given other memory after it was checked; make "
                    "a new tensor.");
  }
}

uint64_t new_structure_number() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  return draw(all);
}

int64_t take_trust_token() {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  if (all.token != 0) {
    throw UserError("The trust token was taken before; omit it, and structures are validated.");
  }
  all.token = static_cast<int64_t>(draw(all));
  return all.token;
}

bool is_trust_token(int64_t token) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  return token != 0 && token == all.token;
}

void hold_arrays(HeldArrays held) {
  const auto made = std::make_shared<const HeldArrays>(std::move(held));
  Held replaced;  // freed after the lock is released
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  replaced = remove(all, made->structure);
  all.by_address.emplace(address_of(*made), made->structure);
  all.by_structure[made->structure] = made;
}

void release_arrays(uint64_t structure) noexcept {
  Held released;  // freed after the lock is released
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  released = remove(all, structure);
}

std::weak_ptr<const HeldArrays> held_arrays(uint64_t structure) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_structure.find(structure);
  if (found == all.by_structure.end()) {
    throw UserError("There is no structure with the number " + std::to_string(structure) + ".");
  }
  return found->second;
}

Held known_arrays(const TensorLayout& layout, std::span<const ArraySpan> arrays,
                  const int64_t* numbers, int64_t value_count) {
  if (arrays.empty()) return nullptr;
  Held known;
  {
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    const auto [begin, end] = all.by_address.equal_range(arrays[0].data);
    for (auto entry = begin; entry != end && !known; ++entry) {
      const Held& held = all.by_structure.at(entry->second);
      if (matches(*held, layout, arrays, numbers, value_count)) known = held;
    }
  }
  if (!known || known->version < 0) return nullptr;
  for (size_t at = 0; at < arrays.size(); ++at) {
    const AtenTensorHandle held = known->arrays[at].get();
    if (!is_same({data_of(held), element_count(held)}, arrays[at])) return nullptr;
  }
  return version_of(known->arrays) == known->version ? known : nullptr;
}

int64_t version_of(std::span<const OwnedTensor> arrays) {
  int64_t sum = 0;
  for (const OwnedTensor& array : arrays) {
    if (is_inference(array.get())) return -1;
    sum += write_count(array.get());
  }
  return sum;
}

}  // namespace tulle::shim
