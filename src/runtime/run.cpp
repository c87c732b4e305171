// One run on the CPU: slots, and steps in order.
#include "runtime/run.h"

#include <cstring>

#include "runtime/heap.h"
#include "runtime/launch.h"
#include "runtime/run_state.h"
#include "runtime/scan.h"
#include "runtime/sort.h"
#include "support/check.h"

namespace tulle::runtime {

namespace {

int64_t read_element(const void* buffer, DType element, int64_t index) {
  switch (size_of(element)) {
    case 1:
      return static_cast<const int8_t*>(buffer)[index];
    case 4:
      return static_cast<const int32_t*>(buffer)[index];
    case 8:
      return static_cast<const int64_t*>(buffer)[index];
    default:
      internal_error("host programs do not read ", name_of(element));
  }
}

// Frees the remaining temporaries when it ends, also after an error.
class Run : public RunState {
 public:
  Run(const PreparedProgram& program, RunMemory& memory, Parallelism& parallelism)
      : RunState(program.buffers, program.scalars),
        temporary_bytes_(program.buffers),
        memory_(memory),
        parallelism_(parallelism) {
    for (size_t slot = 0; slot < program.buffers; ++slot) temporary_bytes_[slot] = -1;
  }
  ~Run() {
    for (size_t slot = 0; slot < buffer_count(); ++slot) release(static_cast<int>(slot));
  }

  using RunState::operator();

  void operator()(const AllocateAction& step) {
    const Size size = size_of_allocation(step);
    void* data = nullptr;
    if (step.result >= 0) {
      data = memory_.allocate(static_cast<size_t>(step.result), *step.node, size.elements,
                              step.zeroed);
    } else {
      data = heap_allocate(size.bytes);
      buffer(step.buffer) = data;
      if (data) temporary_bytes_[static_cast<size_t>(step.buffer)] = size.bytes;
      if (data && step.zeroed) std::memset(data, 0, static_cast<size_t>(size.bytes));
    }
    set_allocated(step, data, size, loop::kWrittenAlignment);
  }

  void operator()(const LaunchAction& step) {
    StackArray<void*> buffers(step.buffers.size());
    StackArray<int64_t> scalars(step.scalars.size());
    for (size_t i = 0; i < step.buffers.size(); ++i) buffers[i] = buffer(step.buffers[i]);
    for (size_t i = 0; i < step.scalars.size(); ++i) scalars[i] = scalar(step.scalars[i]);
    const KernelCall call{step.name, step.function, buffers.data(), scalars.data()};
    if (!step.parallel) return launch(call, {});
    launch_parallel(call, {evaluate(step.begin), evaluate(step.end), step.step}, parallelism_);
  }

  void operator()(const ScanAction& step) {
    const int64_t length = evaluate(step.length);
    require_elements(step.buffer, length + 1);
    exclusive_scan(buffer(step.buffer), step.node->element, length, step.node->name, parallelism_);
  }

  void operator()(const ReadAction& step) {
    set_read(step, read_element(buffer(step.buffer), step.element, index_of(step)));
  }

  void operator()(const SortAction& step) {
    const int64_t length = evaluate(step.length);
    require_elements(step.order, length);
    std::vector<SortKey> keys;
    for (size_t k = 0; k < step.keys.size(); ++k) {
      require_elements(step.keys[k], length);
      keys.push_back({buffer(step.keys[k]), step.elements[k]});
    }
    sort_permutation(static_cast<int64_t*>(buffer(step.order)), keys, length, parallelism_);
  }

  void operator()(const ReleaseAction& step) { release(step.buffer); }

 private:
  void release(int slot) {
    int64_t& bytes = temporary_bytes_[static_cast<size_t>(slot)];
    if (bytes < 0) return;
    heap_release(buffer(slot), bytes);
    bytes = -1;
  }

  StackArray<int64_t> temporary_bytes_;  // -1 for memory that the run does not own
  RunMemory& memory_;
  Parallelism& parallelism_;
};

}  // namespace

CompiledProgram::CompiledProgram(const loop::HostProgram& program,
                                 const std::vector<loop::KernelFunction>& kernels)
    : prepared_(std::make_unique<const PreparedProgram>(prepare_program(program, kernels))) {}
CompiledProgram::CompiledProgram(CompiledProgram&&) noexcept = default;
CompiledProgram& CompiledProgram::operator=(CompiledProgram&&) noexcept = default;
CompiledProgram::~CompiledProgram() = default;

size_t CompiledProgram::buffer_count() const { return prepared_->buffer_parameters; }
size_t CompiledProgram::scalar_count() const { return prepared_->scalar_parameters; }
size_t CompiledProgram::result_count() const { return prepared_->results.size(); }

void CompiledProgram::run(std::span<void* const> buffers, std::span<const int64_t> scalars,
                          RunMemory& memory, Parallelism& parallelism,
                          std::span<RunResult> results) const {
  TULLE_CHECK(buffers.size() == buffer_count() && scalars.size() == scalar_count(), buffers.size(),
              " buffers and ", scalars.size(), " scalars given");
  TULLE_CHECK(results.size() == result_count(), "room for ", results.size(), " results");
  Run run(*prepared_, memory, parallelism);
  for (size_t slot = 0; slot < buffers.size(); ++slot) run.set_buffer(slot, buffers[slot]);
  for (size_t slot = 0; slot < scalars.size(); ++slot) run.set_scalar(slot, scalars[slot]);
  for (const Action& action : prepared_->actions) std::visit(run, action);
  for (size_t i = 0; i < results.size(); ++i) results[i] = run.result(prepared_->results[i]);
}

}  // namespace tulle::runtime
