// Converts tensors to composite formats: sorts the entries, assigns them to parts, and converts
// each part.
#include "format/composite.h"

#include <cstring>
#include <map>
#include <mutex>

#include "composite/composite.h"
#include "composite/part_programs.h"
#include "driver/check_lengths.h"
#include "runtime/heap.h"
#include "support/check.h"
#include "support/no_fork.h"

namespace tulle {

namespace {

std::string copy_text(int rank) {
  std::string indices;
  for (int d = 0; d < rank; ++d) indices += concat(d == 0 ? "" : ",", "i", d);
  return concat("T[", indices, "] = A[", indices, "]");
}

// A program that converts tensors of this kind to that format. The most recent programs are kept.
std::shared_ptr<const Program> copying_program(const TensorSpec& spec, const std::string& format) {
  constexpr size_t most_kept = 256;
  static auto& kept = *new std::map<std::string, std::shared_ptr<const Program>>;
  static auto& mutex = *new std::mutex;
  const std::string key = concat(name_of(spec.type), " ", name_of(spec.index_type), " ", spec.rank,
                                 " ", spec.format, " -> ", format);
  const NoFork no_fork;
  const std::lock_guard lock(mutex);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  if (kept.size() >= most_kept) kept.clear();
  ProgramOptions wanted;
  wanted.out_formats["T"] = format;
  return kept[key] = Program::from_notation(copy_text(spec.rank), {spec}, wanted);
}

// Converts the tensor to another format.
ResultTensor converted(TensorSpec spec, const TensorView& view, const std::string& format,
                       Memory& memory, const RunOptions& options) {
  spec.name = "A";
  return copying_program(spec, format)->run({view}, memory, options)[0];
}

}  // namespace

TemporaryMemory::TemporaryMemory(const RunOptions& options) {
  if (!options.device.is_cuda()) return;
  own_ = std::make_unique<CudaMemory>(options.device, options.stream);
  memory_ = own_.get();
}

TemporaryMemory::TemporaryMemory(const RunOptions& options, Memory& memory)
    : memory_(options.device.is_cuda() ? &memory : nullptr) {}

TemporaryMemory::~TemporaryMemory() {
  if (own_) return;
  for (const Held& held : held_) {
    if (memory_) {
      memory_->release_temporary(held.block);
    } else {
      runtime::heap_release(held.block.data, held.bytes);
    }
  }
}

Memory::Block TemporaryMemory::allocate(DType type, int64_t length, bool zeroed) {
  const int64_t bytes = std::max<int64_t>(1, length * size_of(type));
  const Block block =
      memory_ ? memory_->allocate_temporary(bytes) : Block{runtime::heap_allocate(bytes), nullptr};
  if (!block.data) return {};
  held_.push_back({block, bytes});
  if (zeroed) {
    TULLE_CHECK(!memory_, "zeroed memory of a GPU");
    std::memset(block.data, 0, static_cast<size_t>(bytes));
  }
  return block;
}

void TemporaryMemory::release_temporary(const Block& block) {
  if (!memory_) return;
  forget(block);
  memory_->release_temporary(block);
}

std::function<void()> TemporaryMemory::keep_temporary(const Block& block) {
  if (!memory_) return nullptr;
  std::function<void()> release = memory_->keep_temporary(block);
  if (release) forget(block);
  return release;
}

void TemporaryMemory::forget(const Block& block) {
  std::erase_if(held_, [&](const Held& held) { return held.block.data == block.data; });
}

void check_operand_count(size_t expected, size_t given) {
  if (given == expected) return;
  user_error("the program takes ", expected, " operands, but ", given, " were given");
}

TensorView view_of(const ResultTensor& result) {
  TensorView view{result.sizes, {}, {result.values.data, result.values.length}};
  for (size_t l = 0; l < result.pos.size(); ++l) {
    view.levels.push_back(
        {{result.pos[l].data, result.pos[l].length}, {result.crd[l].data, result.crd[l].length}});
  }
  return view;
}

SelectedEntries select_parts(std::string_view format, const TensorSpec& spec,
                             const TensorView& view, Memory& memory, const RunOptions& options) {
  const CompositeFormat composite = CompositeFormat::parse(format, spec.rank);
  const Format sorted = Format::coo(spec.rank, composite.order());
  if (Format::parse(spec.format, spec.rank) != sorted) {
    user_error(spec.name, ": expected the tensor in the format ", sorted.name(), ", but found ",
               spec.format);
  }
  check_lengths(spec, sorted, view);
  return select_by_program(composite, spec, view, memory, options);
}

std::vector<ResultTensor> decompose(std::string_view format, const TensorSpec& spec,
                                    const TensorView& view, Memory& memory,
                                    const RunOptions& options) {
  const FormatInfo info = describe_format(format, spec.rank);
  if (info.parts.empty()) user_error("The format ", info.name, " is not composite.");
  TemporaryMemory scratch(options, memory);
  const TensorSpec sorted{"A", info.sorted, spec.type, spec.index_type, spec.rank, {}};
  const TensorView entries = view_of(converted(spec, view, info.sorted, scratch, options));
  const SelectedEntries selected = select_parts(format, sorted, entries, scratch, options);
  std::vector<ResultTensor> parts;
  int64_t first = 0;
  for (size_t p = 0; p < selected.counts.size(); ++p) {
    const std::string& wanted = info.parts[p].format;
    const bool is_gathered =
        Format::parse(wanted, spec.rank) == Format::parse(info.sorted, spec.rank);
    TemporaryMemory for_part(options, memory);
    ResultTensor part =
        gather_by_program(sorted, entries, selected.order, first, selected.counts[p],
                          is_gathered ? memory : for_part, options);
    if (!is_gathered) part = converted(sorted, view_of(part), wanted, memory, options);
    parts.push_back(std::move(part));
    first += selected.counts[p];
  }
  return parts;
}

}  // namespace tulle
