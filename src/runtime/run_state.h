// The state of a run on any device: buffers and scalars in slots.
#pragma once

#include <cstdint>

#include "runtime/heap.h"
#include "runtime/prepare.h"
#include "runtime/run.h"
#include "runtime/stack_array.h"
#include "support/check.h"
#include "tulle/type_names.h"

namespace tulle::runtime {

class RunState {
 public:
  RunState(size_t buffers, size_t scalars)
      : buffer_count_(buffers), buffers_(buffers), elements_(buffers), scalars_(scalars) {
    for (size_t slot = 0; slot < buffers; ++slot) elements_[slot] = -1;
  }
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  void set_buffer(size_t slot, void* data) { buffers_[slot] = data; }
  void set_scalar(size_t slot, int64_t value) { scalars_[slot] = value; }
  RunResult result(int slot) { return {buffer(slot), elements_[static_cast<size_t>(slot)]}; }

  void operator()(const ComputeAction& step) { scalar(step.scalar) = evaluate(step.value); }
  // Computes cached arrays in every run, unless the derived class takes them from a cache.
  void operator()(const KeepAction&) {}
  void operator()(const KeptAction&) {}

 protected:
  size_t buffer_count() const { return buffer_count_; }
  void*& buffer(int slot) { return buffers_[static_cast<size_t>(slot)]; }
  int64_t& scalar(int slot) { return scalars_[static_cast<size_t>(slot)]; }
  int64_t evaluate(const ScalarCode& code) { return code.evaluate(scalars_.data()); }

  struct Size {
    int64_t elements, bytes;
  };
  // The size of a buffer that will be allocated.
  Size size_of_allocation(const AllocateAction& step) {
    Size size{evaluate(step.size), 0};
    TULLE_CHECK(size.elements >= 0, "the buffer ", step.node->name, " has the size ",
                size.elements);
    if (__builtin_mul_overflow(size.elements, size_of(step.node->element), &size.bytes)) {
      raise_out_of_memory(INT64_MAX, step.node->name.c_str());
    }
    return size;
  }

  void set_allocated(const AllocateAction& step, void* data, const Size& size, size_t alignment) {
    if (!data && size.bytes > 0) raise_out_of_memory(size.bytes, step.node->name.c_str());
    if (size.bytes > 0 && reinterpret_cast<uintptr_t>(data) % alignment != 0) {
      user_error("the memory given for the result ", step.node->name, " is not aligned to ",
                 alignment, " bytes");
    }
    buffer(step.buffer) = data;
    elements_[static_cast<size_t>(step.buffer)] = size.elements;
  }

  void set_elements(int slot, int64_t elements) { elements_[static_cast<size_t>(slot)] = elements; }

  void require_elements(int slot, int64_t needed) {
    const int64_t elements = elements_[static_cast<size_t>(slot)];
    TULLE_CHECK(elements < 0 || needed <= elements, "a step needs ", needed,
                " elements of a buffer of ", elements);
  }

  // The bounds-checked index of a number that the host reads.
  int64_t index_of(const ReadAction& step) {
    const int64_t index = evaluate(step.index);
    TULLE_CHECK(index >= 0, "the host reads element ", index);
    require_elements(step.buffer, index + 1);
    return index;
  }

  void set_read(const ReadAction& step, int64_t value) {
    if (value < 0) {
      user_error(step.step.name, " is more than an ", long_name_of(step.element),
                 " holds; use 64-bit indices (index_dtype=torch.int64)");
    }
    if (value > step.step.most) loop::fail_read(step.step, value);
    scalar(step.scalar) = value;
  }

 private:
  size_t buffer_count_;
  StackArray<void*> buffers_;
  StackArray<int64_t> elements_;  // -1 if the run does not have the number
  StackArray<int64_t> scalars_;
};

}  // namespace tulle::runtime
