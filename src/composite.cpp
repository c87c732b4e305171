// Building tensors of composite formats: entries are sorted, given out to the parts, and each part
// is converted as any tensor is.
#include "format/composite.h"

#include <cstring>
#include <map>
#include <mutex>

#include "caller.h"
#include "check_lengths.h"
#include "composite.h"
#include "runtime/heap.h"
#include "runtime/select_parts.h"
#include "support/check.h"
#include "support/no_fork.h"

namespace tulle {

namespace {

std::string copy_text(int rank) {
  std::string indices;
  for (int d = 0; d < rank; ++d) indices += concat(d == 0 ? "" : ",", "i", d);
  return concat("T[", indices, "] = A[", indices, "]");
}

// Programs that copy tensors of this kind into that format; the last of them are kept.
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
  return kept[key] = Program::compile(copy_text(spec.rank), {spec}, wanted);
}

// The tensor in another format.
ResultTensor converted(TensorSpec spec, const TensorView& view, const std::string& format,
                       Memory& memory, const RunOptions& options) {
  spec.name = "A";
  return copying_program(spec, format)->run({view}, memory, options)[0];
}

// The result with arrays of its own in place of those that it shares with the operand.
ResultTensor owned(ResultTensor result, Memory& memory) {
  for (auto* arrays : {&result.pos, &result.crd}) {
    for (ResultArray& array : *arrays) {
      if (array.shared_operand < 0) continue;
      const Memory::Block block = memory.allocate(array.type, array.length, false);
      if (!block.data) user_error("There is no memory left for the parts of a composite format.");
      std::memcpy(block.data, array.data, static_cast<size_t>(array.length * size_of(array.type)));
      array = {block.data, array.length, array.type, block.handle, -1};
    }
  }
  return result;
}

// The elements of an array at these places.
ArraySpan gathered(const ArraySpan& from, DType type, const int64_t* order, int64_t count,
                   Memory& memory) {
  const auto size = static_cast<size_t>(size_of(type));
  const Memory::Block block = memory.allocate(type, count, false);
  if (!block.data) user_error("There is no memory left for the parts of a composite format.");
  const auto* source = static_cast<const char*>(from.data);
  auto* target = static_cast<char*>(block.data);
  for (int64_t at = 0; at < count; ++at) {
    std::memcpy(target + static_cast<size_t>(at) * size,
                source + static_cast<size_t>(order[at]) * size, size);
  }
  return {block.data, count};
}

void require_cpu(const RunOptions& options) {
  if (options.device.kind != Device::Kind::Cpu) {
    throw Unsupported("Composite formats are built on the CPU; copy the tensor there first.");
  }
}

}  // namespace

Scratch::~Scratch() {
  for (const Held& held : held_) runtime::heap_release(held.data, held.bytes);
}

Memory::Block Scratch::allocate(DType type, int64_t length, bool zeroed) {
  const int64_t bytes = std::max<int64_t>(1, length * size_of(type));
  void* data = runtime::heap_allocate(bytes);
  if (!data) return {};
  held_.push_back({data, bytes});
  if (zeroed) std::memset(data, 0, static_cast<size_t>(bytes));
  return {data, nullptr};
}

// A result as an operand.
TensorView view_of(const ResultTensor& result) {
  TensorView view{result.sizes, {}, {result.values.data, result.values.length}};
  for (size_t l = 0; l < result.pos.size(); ++l) {
    view.levels.push_back(
        {{result.pos[l].data, result.pos[l].length}, {result.crd[l].data, result.crd[l].length}});
  }
  return view;
}

void select_parts(std::string_view format, const TensorSpec& spec, const TensorView& view,
                  const RunOptions& options, int64_t* order, int64_t* counts) {
  require_cpu(options);
  const CompositeFormat composite = CompositeFormat::parse(format, spec.rank);
  const Format sorted = Format::coo(spec.rank, composite.order());
  if (Format::parse(spec.format, spec.rank) != sorted) {
    user_error(spec.name, ": entries are selected from the format ", sorted.name(),
               ", but the tensor has ", spec.format);
  }
  check_lengths(spec, sorted, view);
  runtime::SortedEntries entries{{}, {}, spec.index_type, view.values.length};
  for (size_t d = 0; d < view.levels.size(); ++d) {
    entries.sizes.push_back(view.sizes[static_cast<size_t>(composite.order()[d])]);
    const ArraySpan& crd = view.levels[d].crd;
    entries.coordinates.push_back({crd.data, crd.length, nullptr});
  }
  CallerParallelism parallelism(options);
  runtime::select_parts(composite, entries, parallelism, order, counts);
}

std::vector<ResultTensor> decompose(std::string_view format, const TensorSpec& spec,
                                    const TensorView& view, Memory& memory,
                                    const RunOptions& options) {
  require_cpu(options);
  const FormatInfo info = describe_format(format, spec.rank);
  if (info.parts.empty()) user_error("The format ", info.name, " is not a composite one.");
  Scratch scratch;
  TensorSpec sorted{"A", info.sorted, spec.type, spec.index_type, spec.rank, {}};
  const TensorView entries = view_of(converted(spec, view, info.sorted, scratch, options));
  std::vector<int64_t> order(static_cast<size_t>(entries.values.length));
  std::vector<int64_t> counts(info.parts.size());
  select_parts(format, sorted, entries, options, order.data(), counts.data());

  std::vector<ResultTensor> parts;
  const int64_t* next = order.data();
  for (size_t p = 0; p < counts.size(); ++p) {
    const int64_t count = counts[p];
    TensorView part{entries.sizes, entries.levels, {}};
    for (LevelSpan& level : part.levels) {
      level.crd = gathered(level.crd, spec.index_type, next, count, scratch);
    }
    part.values = gathered(entries.values, spec.type, next, count, scratch);
    const int64_t bounds64[] = {0, count};
    const int32_t bounds32[] = {0, static_cast<int32_t>(count)};
    const bool narrow = spec.index_type == DType::Int32;
    part.levels[0].pos = {narrow ? static_cast<const void*>(bounds32) : bounds64, 2};
    parts.push_back(owned(converted(sorted, part, info.parts[p].format, memory, options), memory));
    next += count;
  }
  return parts;
}

}  // namespace tulle
