// Host programs that lower/ writes directly, without statements; compiled and cached.
#include "composite/part_programs.h"

#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include "driver/machine.h"
#include "driver/run_executable.h"
#include "kernels/make_ready.h"
#include "lower/programs/select_parts.h"
#include "support/check.h"
#include "support/no_fork.h"

namespace tulle {

namespace {

using Writing = std::function<loop::HostProgram(Backend)>;

// The program of that name for the device; the most recent programs are kept. `entries` is the
// first tensor it will run on.
std::shared_ptr<const Executable> program_for(const RunOptions& options, const std::string& name,
                                              const TensorView& entries, const Writing& write) {
  constexpr size_t most_kept = 256;
  static auto& kept = *new std::map<std::string, std::shared_ptr<const Executable>>;
  static auto& mutex = *new std::mutex;
  const std::string key =
      concat(static_cast<int>(options.device.kind), " ", options.device.ordinal, " ", name);
  const NoFork no_fork;
  const std::lock_guard lock(mutex);
  if (const auto found = kept.find(key); found != kept.end()) return found->second;
  if (kept.size() >= most_kept) kept.clear();
  CompileRequest request;
  set_machine(options.device, "", options.threads, request);
  request.plan.statistics["entries"] = {entries.sizes, entries.values.length};
  LoweredProgram lowered{write(request.plan.machine.backend), {}};
  return kept[key] =
             std::make_shared<Executable>(make_ready(std::move(lowered), code_request(request)));
}

// Runs the program and returns its results, allocated by `memory`.
std::vector<ResultArray> run(const Executable& executable, std::vector<void*> buffers,
                             std::vector<int64_t> scalars, Memory& memory,
                             const RunOptions& options) {
  std::vector<void*> handles(executable.result_count(), nullptr);
  std::vector<runtime::RunResult> found(executable.result_count());
  ResultMemory result_memory(memory, executable.results, handles, {}, {}, options.device);
  run_executable(executable, buffers, scalars, result_memory, options, found);
  std::vector<ResultArray> results;
  for (size_t r = 0; r < found.size(); ++r)
    results.push_back({found[r].data, found[r].elements, DType::Int64, handles[r], -1});
  return results;
}

// NOLINTNEXTLINE: programs never write to their operands
void* given(const ArraySpan& array) { return const_cast<void*>(array.data); }

// Copies elements [first, first + count) of an array on the device to int64 numbers.
std::vector<int64_t> read_back(const void* array, DType type, int64_t first, int64_t count,
                               const RunOptions& options) {
  const auto bytes = static_cast<size_t>(count * size_of(type));
  const char* from = static_cast<const char*>(array) + first * size_of(type);
  std::vector<int64_t> wide(static_cast<size_t>(count));
  std::vector<int32_t> narrow(static_cast<size_t>(count));
  void* into = type == DType::Int64 ? static_cast<void*>(wide.data()) : narrow.data();
  if (!options.device.is_cuda()) {
    std::memcpy(into, from, bytes);
  } else {
    const cuda::CurrentGpu current(cuda::gpu(options.device.ordinal));
    auto* stream = static_cast<cuda::Stream>(options.stream);
    cuda::check(
        cuda::driver().copy_to_host(into, reinterpret_cast<cuda::Pointer>(from), bytes, stream),
        "reading the sizes of parts back");
    cuda::check(cuda::driver().synchronise(stream), "waiting for the GPU");
  }
  if (type != DType::Int64) wide.assign(narrow.begin(), narrow.end());
  return wide;
}

[[noreturn]] void fail_uncovered(const std::vector<int64_t>& coordinates) {
  std::string text;
  for (const int64_t coordinate : coordinates) text += concat(text.empty() ? "" : ", ", coordinate);
  user_error("No part of the composite format takes the entry at (", text,
             "); make the last part 'rest: csr'.");
}

void refuse_capture(const RunOptions& options) {
  if (!options.device.is_cuda()) return;
  const cuda::CurrentGpu current(cuda::gpu(options.device.ordinal));
  int capturing = 0;
  cuda::check(cuda::driver().is_capturing(static_cast<cuda::Stream>(options.stream), &capturing),
              "looking at the stream");
  if (capturing == 0) return;
  user_error(
      "Building a composite format reads the sizes of its parts back from the GPU, which a CUDA "
      "graph cannot capture; convert the tensor outside the graph.");
}

}  // namespace

SelectedEntries select_by_program(const CompositeFormat& format, const TensorSpec& spec,
                                  const TensorView& view, Memory& memory, const RunOptions& options,
                                  const lower::ChunkLimits& limits) {
  refuse_capture(options);
  const std::string name =
      concat("select ", format.rank(), " ", name_of(spec.index_type), " ", limits.work_per_chunk,
             " ", limits.threads_per_block, " ", format.to_string());
  const auto program = program_for(options, name, view, [&](Backend backend) {
    return lower::select_parts(format, spec.index_type, {backend, limits});
  });
  std::vector<void*> coordinates;
  for (const LevelSpan& level : view.levels) coordinates.push_back(given(level.crd));
  const int64_t count = view.values.length;
  const int64_t columns = view.sizes[static_cast<size_t>(format.order().back())];
  const std::vector<ResultArray> results =
      run(*program, coordinates, {count, columns}, memory, options);
  const std::vector<int64_t> begins =
      read_back(results[1].data, DType::Int64, 0, results[1].length, options);
  if (begins.back() < count) {
    const int64_t entry =
        read_back(results[0].data, DType::Int64, begins.back(), 1, options).front();
    std::vector<int64_t> at;
    for (const LevelSpan& level : view.levels)
      at.push_back(read_back(level.crd.data, spec.index_type, entry, 1, options).front());
    fail_uncovered(at);
  }
  SelectedEntries selected{results[0], {}};
  for (size_t part = 0; part + 1 < begins.size(); ++part)
    selected.counts.push_back(begins[part + 1] - begins[part]);
  return selected;
}

ResultTensor gather_by_program(const TensorSpec& spec, const TensorView& entries,
                               const ResultArray& order, int64_t first, int64_t count,
                               Memory& memory, const RunOptions& options) {
  const std::string name =
      concat("gather ", spec.rank, " ", name_of(spec.index_type), " ", name_of(spec.type));
  const auto program = program_for(options, name, entries, [&](Backend backend) {
    return lower::gather_entries(spec.rank, spec.index_type, spec.type, {backend});
  });
  std::vector<void*> buffers = {order.data};
  for (const LevelSpan& level : entries.levels) buffers.push_back(given(level.crd));
  buffers.push_back(given(entries.values));
  std::vector<ResultArray> results = run(*program, buffers, {first, count}, memory, options);
  ResultTensor part{entries.sizes, std::vector<ResultArray>(entries.levels.size()), {}, {}};
  for (ResultArray& array : results) array.type = spec.index_type;
  part.pos[0] = results.front();
  part.crd.assign(results.begin() + 1, results.end() - 1);
  part.values = results.back();
  part.values.type = spec.type;
  return part;
}

}  // namespace tulle
