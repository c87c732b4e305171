// Finds programs by key; compiles each once.
#include "programs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>

#include "key.h"

namespace tulle::shim {

namespace {

// One key: whoever holds `compiling` makes the program, the others wait for it there.
struct Cell {
  std::mutex compiling;
  std::shared_ptr<const Prepared> prepared;  // guarded by the table's mutex
};

struct Table {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Cell>, std::less<>> cells;
  std::vector<std::shared_ptr<const Prepared>> numbered;
};

// Never destroyed: threads may outlive the library's static objects.
Table& table() {
  static Table& instance = *new Table;
  return instance;
}

// A thread that was compiling in the parent does not exist in the child: its cells are begun anew
// there.
void forget_unfinished() {
  for (auto& [key, cell] : table().cells) {
    if (!cell->prepared) cell = std::make_shared<Cell>();
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

std::shared_ptr<const Prepared> prepare(std::string_view text) {
  const Key key = parse_key(text);
  auto prepared = std::make_shared<Prepared>();
  prepared->program = key.is_einsum ? Program::einsum(key.text, key.operands, key.options)
                                    : Program::compile(key.text, key.operands, key.options);
  for (const TensorSpec& spec : prepared->program->operands()) {
    prepared->operands.push_back(layout_of(spec));
    const TensorLayout& layout = prepared->operands.back();
    prepared->tensor_count += layout.arrays.size() + 1;
    if (!layout.is_plain) prepared->size_count += static_cast<size_t>(spec.rank);
  }
  for (const TensorSpec& spec : prepared->program->results()) {
    prepared->results.push_back(layout_of(spec));
  }
  return prepared;
}

std::shared_ptr<Cell> cell_of(std::string_view key) {
  const std::lock_guard lock(table().mutex);
  auto found = table().cells.find(key);
  if (found == table().cells.end()) {
    found = table().cells.emplace(std::string(key), std::make_shared<Cell>()).first;
  }
  return found->second;
}

std::shared_ptr<const Prepared> finished(const Cell& cell) {
  const std::lock_guard lock(table().mutex);
  return cell.prepared;
}

}  // namespace

TensorLayout layout_of(const TensorSpec& spec) {
  const FormatInfo format = describe_format(spec.format, spec.rank);
  TensorLayout layout;
  layout.spec = spec;
  layout.is_plain = format.name == "dense";
  layout.levels = format.levels;
  for (size_t level = 0; level < format.levels.size(); ++level) {
    if (format.levels[level].pos) layout.arrays.push_back({level, true});
    if (format.levels[level].crd) layout.arrays.push_back({level, false});
  }
  return layout;
}

std::shared_ptr<const Prepared> find_program(std::string_view key) {
  watch_forks();
  const std::shared_ptr<Cell> cell = cell_of(key);
  if (auto prepared = finished(*cell)) return prepared;
  const std::lock_guard compiling(cell->compiling);
  if (auto prepared = finished(*cell)) return prepared;
  auto prepared = prepare(key);
  const std::lock_guard lock(table().mutex);
  cell->prepared = prepared;
  return prepared;
}

int64_t number_of_program(std::string_view key) {
  auto prepared = find_program(key);
  const std::lock_guard lock(table().mutex);
  auto& numbered = table().numbered;
  const auto found = std::find(numbered.begin(), numbered.end(), prepared);
  if (found != numbered.end()) return found - numbered.begin();
  numbered.push_back(std::move(prepared));
  return static_cast<int64_t>(numbered.size()) - 1;
}

std::shared_ptr<const Prepared> numbered_program(int64_t number) {
  const std::lock_guard lock(table().mutex);
  if (number < 0 || number >= static_cast<int64_t>(table().numbered.size())) {
    throw UserError("No program has the number " + std::to_string(number) + " in this process.");
  }
  return table().numbered[static_cast<size_t>(number)];
}

}  // namespace tulle::shim
