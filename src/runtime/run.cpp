// One run: the slots, and the steps one after the other.
#include "runtime/run.h"

#include <cstring>

#include "runtime/heap.h"
#include "runtime/launch.h"
#include "runtime/prepare.h"
#include "runtime/scan.h"
#include "runtime/slots.h"
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

// The state of a run; frees the temporaries that are left when it ends, however it ends.
class Run {
 public:
  Run(size_t buffers, size_t scalars, Memory& memory, Parallelism& parallelism)
      : buffer_count_(buffers),
        buffers_(buffers),
        elements_(buffers),
        temporary_bytes_(buffers),
        scalars_(scalars),
        memory_(memory),
        parallelism_(parallelism) {
    for (size_t slot = 0; slot < buffers; ++slot) {
      elements_[slot] = -1;
      temporary_bytes_[slot] = -1;
    }
  }
  ~Run() {
    for (size_t slot = 0; slot < buffer_count_; ++slot) release(slot);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void set_buffer(size_t slot, void* data) { buffers_[slot] = data; }
  void set_scalar(size_t slot, int64_t value) { scalars_[slot] = value; }
  Result result(int slot) { return {buffer(slot), elements_[static_cast<size_t>(slot)]}; }

  void operator()(const Compute& step) {
    scalar(step.scalar) = step.value.evaluate(scalars_.data());
  }

  void operator()(const Allocation& step) {
    const int64_t elements = step.size.evaluate(scalars_.data());
    TULLE_CHECK(elements >= 0, "the buffer ", step.node->name, " has the size ", elements);
    int64_t bytes = 0;
    if (__builtin_mul_overflow(elements, size_of(step.node->element), &bytes)) {
      raise_out_of_memory(INT64_MAX, step.node->name.c_str());
    }
    const auto slot = static_cast<size_t>(step.buffer);
    void* data = nullptr;
    if (step.result >= 0) {
      data = memory_.allocate(static_cast<size_t>(step.result), *step.node, elements, step.zeroed);
    } else {
      data = heap_allocate(bytes);
      if (data) temporary_bytes_[slot] = bytes;
      if (data && step.zeroed) std::memset(data, 0, static_cast<size_t>(bytes));
    }
    if (!data && bytes > 0) raise_out_of_memory(bytes, step.node->name.c_str());
    if (bytes > 0 && reinterpret_cast<uintptr_t>(data) % loop::kWrittenAlignment != 0) {
      user_error("the memory given for the result ", step.node->name, " is not aligned to ",
                 loop::kWrittenAlignment, " bytes");
    }
    buffers_[slot] = data;
    elements_[slot] = elements;
  }

  void operator()(const Launch& step) {
    Slots<void*> buffers(step.buffers.size());
    Slots<int64_t> scalars(step.scalars.size());
    for (size_t i = 0; i < step.buffers.size(); ++i) buffers[i] = buffer(step.buffers[i]);
    for (size_t i = 0; i < step.scalars.size(); ++i) scalars[i] = scalar(step.scalars[i]);
    const KernelCall call{step.name, step.function, buffers.data(), scalars.data()};
    if (!step.parallel) return launch(call, {});
    const int64_t* slots = scalars_.data();
    launch_parallel(call, {step.begin.evaluate(slots), step.end.evaluate(slots), step.step},
                    parallelism_);
  }

  void operator()(const Scan& step) {
    const int64_t length = step.length.evaluate(scalars_.data());
    require_elements(step.buffer, length + 1);
    exclusive_scan(buffer(step.buffer), step.node->element, length, step.node->name, parallelism_);
  }

  void operator()(const Read& step) {
    const int64_t index = step.index.evaluate(scalars_.data());
    TULLE_CHECK(index >= 0, "the host reads element ", index);
    require_elements(step.buffer, index + 1);
    const int64_t value = read_element(buffer(step.buffer), step.element, index);
    if (value > step.most) loop::fail_read(step.name, value, step.most);
    scalar(step.scalar) = value;
  }

  void operator()(const Sort& step) {
    const int64_t length = step.length.evaluate(scalars_.data());
    require_elements(step.order, length);
    std::vector<SortKey> keys;
    for (size_t k = 0; k < step.keys.size(); ++k) {
      require_elements(step.keys[k], length);
      keys.push_back({buffer(step.keys[k]), step.elements[k]});
    }
    sort_permutation(static_cast<int64_t*>(buffer(step.order)), keys, length, parallelism_);
  }

  void operator()(const Release& step) { release(static_cast<size_t>(step.buffer)); }

 private:
  void*& buffer(int slot) { return buffers_[static_cast<size_t>(slot)]; }
  int64_t& scalar(int slot) { return scalars_[static_cast<size_t>(slot)]; }

  void require_elements(int slot, int64_t needed) {
    const int64_t elements = elements_[static_cast<size_t>(slot)];
    TULLE_CHECK(elements < 0 || needed <= elements, "a step needs ", needed,
                " elements of a buffer of ", elements);
  }

  void release(size_t slot) {
    if (temporary_bytes_[slot] < 0) return;
    heap_release(buffers_[slot], temporary_bytes_[slot]);
    temporary_bytes_[slot] = -1;
  }

  size_t buffer_count_;
  Slots<void*> buffers_;
  Slots<int64_t> elements_;         // -1 where only the caller knows
  Slots<int64_t> temporary_bytes_;  // -1 for what is not ours to free
  Slots<int64_t> scalars_;
  Memory& memory_;
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
                          Memory& memory, Parallelism& parallelism,
                          std::span<Result> results) const {
  TULLE_CHECK(buffers.size() == buffer_count() && scalars.size() == scalar_count(), buffers.size(),
              " buffers and ", scalars.size(), " scalars given");
  TULLE_CHECK(results.size() == result_count(), "room for ", results.size(), " results");
  Run run(prepared_->buffers, prepared_->scalars, memory, parallelism);
  for (size_t slot = 0; slot < buffers.size(); ++slot) run.set_buffer(slot, buffers[slot]);
  for (size_t slot = 0; slot < scalars.size(); ++slot) run.set_scalar(slot, scalars[slot]);
  for (const Action& action : prepared_->actions) std::visit(run, action);
  for (size_t i = 0; i < results.size(); ++i) results[i] = run.result(prepared_->results[i]);
}

}  // namespace tulle::runtime
