// Finds programs by key, makes each one once, and drops the least recently used ones.
#include "programs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <vector>

namespace tulle::shim {

namespace {

// The entry of a key. The thread that holds `compiling` makes the program; other threads wait for
// the mutex.
struct ProgramEntry {
  std::mutex compiling;
  std::shared_ptr<const Prepared> prepared;  // guarded by the table's mutex
};

struct ProgramTable {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<ProgramEntry>, std::less<>> cells;
  std::map<std::string, int64_t, std::less<>> numbers;  // by key
  std::vector<const std::string*> numbered;             // the keys of `numbers`
  std::atomic<uint64_t> changes = 0;
};

// Never destroyed: threads may outlive the library's static objects.
ProgramTable& table() {
  static ProgramTable& instance = *new ProgramTable;
  return instance;
}

struct Limits {
  int64_t programs, code_bytes;
};

double from_environment(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (*end == 0 && number > 0 && number < 1e9) return number;
  std::fprintf(stderr, "tulle: %s=%s is not a number above 0; using the default %g\n", name, text,
               otherwise);
  return otherwise;
}

const Limits& limits() {
  static const Limits limits{
      static_cast<int64_t>(from_environment("TULLE_KEEP_PROGRAMS", 4096)),
      static_cast<int64_t>(from_environment("TULLE_KEEP_CODE_MB", 256) * (1 << 20))};
  return limits;
}

// A thread that was compiling in the parent does not exist in the child, so unfinished entries are
// replaced.
void forget_unfinished() {
  for (auto& [key, cell] : table().cells) {
    if (!cell->prepared) cell = std::make_shared<ProgramEntry>();
  }
}

void watch_forks() {
  static const int watched =
      pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); },
                     [] {
                       forget_unfinished();
                       table().mutex.unlock();
                     });
  (void)watched;
}

using Programs = std::vector<std::shared_ptr<const Prepared>>;

// Removes the least recently used programs except `used` until the table is within its limits. Call
// it with the table's mutex held, but release the returned programs without it, because unloading
// code waits for forks.
Programs take_surplus(const Prepared& used) {
  auto& cells = table().cells;
  std::vector<std::pair<uint64_t, decltype(cells.begin())>> by_use;
  int64_t code_bytes = 0;
  for (auto cell = cells.begin(); cell != cells.end(); ++cell) {
    const auto& prepared = cell->second->prepared;
    if (!prepared) continue;
    code_bytes += prepared->program->code_bytes();
    by_use.emplace_back(prepared->last_used.load(std::memory_order_relaxed), cell);
  }
  auto count = static_cast<int64_t>(by_use.size());
  const auto fits = [&] { return count <= limits().programs && code_bytes <= limits().code_bytes; };
  Programs surplus;
  if (fits()) return surplus;
  std::sort(by_use.begin(), by_use.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [when, cell] : by_use) {
    if (fits()) break;
    if (cell->second->prepared.get() == &used) continue;
    surplus.push_back(std::move(cell->second->prepared));
    surplus.back()->is_kept = false;
    code_bytes -= surplus.back()->program->code_bytes();
    --count;
    cells.erase(cell);
  }
  ++table().changes;
  return surplus;
}

std::shared_ptr<ProgramEntry> cell_of(std::string_view key) {
  const std::lock_guard lock(table().mutex);
  auto found = table().cells.find(key);
  if (found == table().cells.end()) {
    found = table().cells.emplace(std::string(key), std::make_shared<ProgramEntry>()).first;
  }
  return found->second;
}

std::shared_ptr<const Prepared> finished(const ProgramEntry& cell) {
  const std::lock_guard lock(table().mutex);
  if (cell.prepared) note_use(*cell.prepared);
  return cell.prepared;
}

void forget(std::string_view key, const std::shared_ptr<ProgramEntry>& cell) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().cells.find(key);
  if (found != table().cells.end() && found->second == cell) table().cells.erase(found);
}

std::shared_ptr<const Prepared> prepare_in(const std::shared_ptr<ProgramEntry>& cell,
                                           std::string_view key) {
  std::shared_ptr<const Prepared> prepared;
  try {
    prepared = prepare(key);
  } catch (...) {
    forget(key, cell);
    throw;
  }
  Programs surplus;  // released after the lock
  const std::lock_guard lock(table().mutex);
  ++table().changes;
  note_use(*prepared);
  cell->prepared = prepared;
  // If another thread's failure removed the entry, insert it again.
  const auto there = table().cells.try_emplace(std::string(key), cell).first;
  prepared->is_kept = there->second == cell;
  surplus = take_surplus(*prepared);
  return prepared;
}

}  // namespace

std::shared_ptr<const Prepared> find_program(std::string_view key) {
  watch_forks();
  const std::shared_ptr<ProgramEntry> cell = cell_of(key);
  if (auto prepared = finished(*cell)) return prepared;
  const std::lock_guard compiling(cell->compiling);
  if (auto prepared = finished(*cell)) return prepared;
  return prepare_in(cell, key);
}

int64_t number_of_program(std::string_view key) {
  find_program(key);
  const std::lock_guard lock(table().mutex);
  auto& numbered = table().numbered;
  const auto [found, is_new] =
      table().numbers.emplace(std::string(key), static_cast<int64_t>(numbered.size()));
  if (is_new) numbered.push_back(&found->first);
  return found->second;
}

std::shared_ptr<const Prepared> numbered_program(int64_t number) {
  const std::string* key = nullptr;
  {
    const std::lock_guard lock(table().mutex);
    if (number < 0 || number >= static_cast<int64_t>(table().numbered.size())) {
      throw UserError("No program has the number " + std::to_string(number) + " in this process.");
    }
    key = table().numbered[static_cast<size_t>(number)];
  }
  return find_program(*key);
}

uint64_t table_changes() { return table().changes.load(std::memory_order_relaxed); }

void note_use(const Prepared& prepared) {
  const uint64_t now = table_changes();
  // Stores only changes: a store would invalidate the cache line in other cores.
  if (prepared.last_used.load(std::memory_order_relaxed) != now) {
    prepared.last_used.store(now, std::memory_order_relaxed);
  }
}

void note_growth(const Prepared& prepared) {
  Programs surplus;  // released after the lock
  const std::lock_guard lock(table().mutex);
  surplus = take_surplus(prepared);
}

int64_t program_count() {
  const std::lock_guard lock(table().mutex);
  return static_cast<int64_t>(table().cells.size());
}

}  // namespace tulle::shim
