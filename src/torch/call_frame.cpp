// Binds tensors to programs and returns their results.
#include "call_frame.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bind.h"
#include "check_structure.h"
#include "dense_limit.h"
#include "devices.h"
#include "out.h"
#include "tulle/error.h"

namespace tulle::shim {

namespace {

constexpr uintptr_t kResultAlignment = 64;  // in bytes, as Memory requires
constexpr uintptr_t kGpuAlignment = 16;     // as RunOptions requires

// Whether `structures` numbers of structures follow the sizes. They are stored as their bitwise
// complements, which are negative, so no size looks like one.
bool has_structures(AtenTensorHandle sizes, int64_t plain, int64_t structures) {
  if (element_count(sizes) != plain + structures) return false;
  const auto* numbers = static_cast<const int64_t*>(data_of(sizes)) + plain;
  return std::all_of(numbers, numbers + structures, [](int64_t number) { return number < 0; });
}

}  // namespace

CallFrame::CallFrame(std::shared_ptr<const Prepared> prepared)
    : prepared_(std::move(prepared)),
      bound_(prepared_->operands.size()),
      outs_(prepared_->results.size()),
      memory_(prepared_->results),
      code_bytes_(prepared_->program->code_bytes()) {
  for (const TensorLayout& layout : prepared_->operands) views_.push_back(empty_view(layout));
}

void CallFrame::bind(AtenTensorHandle sizes, std::span<const OwnedTensor> tensors, size_t skipped) {
  const auto plain = static_cast<int64_t>(prepared_->size_count + skipped);
  // The caller who read the program's number from the skipped ones has checked device and memory.
  const bool is_vector = has_type(sizes, DType::Int64) && rank_of(sizes) == 1 &&
                         is_contiguous(sizes) && (skipped > 0 || !device_of(sizes).is_cuda());
  if (is_vector && skipped == 0) check_memory("The sizes", sizes);
  const bool numbered = is_vector && has_structures(sizes, plain, prepared_->structure_count);
  if (!is_vector || (element_count(sizes) != plain && !numbered)) {
    throw UserError("The program takes a contiguous vector of " +
                    std::to_string(prepared_->size_count) + " int64 sizes, but found " +
                    describe(sizes) + ".");
  }
  const bool is_held = numbered && tensors.size() == views_.size();
  if (tensors.size() != prepared_->tensor_count && !is_held) {
    throw UserError("The program takes " + std::to_string(prepared_->tensor_count) +
                    " tensors, but " + std::to_string(tensors.size()) + " were given.");
  }
  const auto* next_size = static_cast<const int64_t*>(data_of(sizes)) + skipped;
  const int64_t* next_structure = next_size + prepared_->size_count;
  find_tensors(tensors, is_held ? next_structure : nullptr);
  device_ = common_device();
  memory_.set_device(device_);
  for (size_t at = 0; at < views_.size(); ++at) {
    const TensorLayout& layout = prepared_->operands[at];
    if (layout.is_plain) {
      const AtenTensorHandle values = bound_[at].values->get();
      check_memory(layout.spec.name, values);
      bind_plain(layout, row_major(values), views_[at]);
    } else {
      bind_structure(at, next_size);
      next_size += layout.number_count();
    }
  }
}

void CallFrame::find_tensors(std::span<const OwnedTensor> tensors, const int64_t* structures) {
  for (size_t at = 0; at < views_.size(); ++at) {
    const TensorLayout& layout = prepared_->operands[at];
    Bound& bound = bound_[at];
    if (structures && !layout.is_plain) {
      find_held(layout, static_cast<uint64_t>(~*structures++), bound);
      bound.arrays = bound.locked->arrays;
    } else {
      bound.arrays = tensors.first(layout.arrays.size());
      tensors = tensors.subspan(layout.arrays.size());
    }
    bound.values = tensors.data();
    tensors = tensors.subspan(1);
  }
}

void CallFrame::find_held(const TensorLayout& layout, uint64_t structure, Bound& bound) {
  if (bound.structure == structure) bound.locked = bound.held.lock();
  if (bound.locked) return;
  bound.structure = 0;  // until the structure is found to fit
  bound.held = held_arrays(structure);
  bound.locked = bound.held.lock();
  if (!bound.locked) throw UserError(layout.spec.name + ": the structure was released.");
  bound.locked->check_fits(layout);
  bound.structure = structure;
}

void CallFrame::bind_structure(size_t operand, const int64_t* numbers) {
  const TensorLayout& layout = prepared_->operands[operand];
  Bound& bound = bound_[operand];
  TensorView& view = views_[operand];
  const ArraySpan values = values_of(layout, aligned(bound.values->get()));
  if (bound.locked) {
    bound.locked->check_same(layout, numbers);
    if (values.length != bound.locked->value_count) {
      throw UserError(layout.spec.name + ": the array of values has " +
                      std::to_string(values.length) + " elements, but " +
                      std::to_string(bound.locked->value_count) +
                      " are needed: one for each stored entry.");
    }
    bind_sparse(layout, bound.locked->spans, values, numbers, view);
  } else {
    const std::vector<ArraySpan> arrays = spans_of(layout, bound.arrays);
    bound.known = known_arrays(layout, arrays, numbers, values.length);
    if (!bound.known) check_structure(layout, bound.arrays, numbers, values.length);
    bind_sparse(layout, arrays, values, numbers, view);
  }
  const HeldArrays* const held = bound.locked ? bound.locked.get() : bound.known.get();
  // On a CPU nothing is derived from structures beyond a call.
  view.structure = held && device_.is_cuda() ? held->structure : 0;
}

Device CallFrame::common_device() const {
  if (bound_.empty()) return {};
  const Device first = device_of(bound_[0].values->get());
  const auto check = [&](size_t operand, const Device& device) {
    if (device == first) return;
    throw UserError("The operands are on two devices: '" + prepared_->operands[0].spec.name +
                    "' is on " + to_string(first) + ", '" + prepared_->operands[operand].spec.name +
                    "' on " + to_string(device) + ". Move one of them with .to(device).");
  };
  for (size_t at = 0; at < bound_.size(); ++at) {
    if (bound_[at].locked) {
      if (!bound_[at].arrays.empty()) check(at, bound_[at].locked->device);
    } else {
      for (const OwnedTensor& array : bound_[at].arrays) check(at, device_of(array.get()));
    }
    check(at, device_of(bound_[at].values->get()));
  }
  return first;
}

AtenTensorHandle CallFrame::row_major(AtenTensorHandle tensor) {
  if (is_contiguous(tensor)) return aligned(tensor);
  copies_.push_back(contiguous(tensor));
  return copies_.back().get();
}

AtenTensorHandle CallFrame::aligned(AtenTensorHandle tensor) {
  const bool on_gpu = device_.is_cuda();
  if (!on_gpu || reinterpret_cast<uintptr_t>(data_of(tensor)) % kGpuAlignment == 0) return tensor;
  copies_.push_back(copied(tensor));
  return copies_.back().get();
}

void CallFrame::place_results() {
  for (size_t at = 0; at < outs_.size(); ++at) {
    const TensorLayout& layout = prepared_->results[at];
    TorchMemory::ResultPlace& place = memory_.place(at);
    place.sizes.clear();
    for (const auto [operand, dimension] : layout.spec.sizes_from) {
      place.sizes.push_back(
          views_[static_cast<size_t>(operand)].sizes[static_cast<size_t>(dimension)]);
    }
    if (outs_[at]) {
      check_out(layout, place.sizes, outs_[at]);
      if (!(device_of(outs_[at]) == device_)) {
        throw UserError("out: the operands are on " + to_string(device_) + ", but out is on " +
                        to_string(device_of(outs_[at])) + ".");
      }
      if (can_be_written(outs_[at])) place.out = outs_[at];
    } else if (layout.is_plain) {
      check_dense_limit(layout, outs_.size() == 1, place.sizes, device_);
    }
  }
}

// Whether results can be written to `out` directly: no operand overlaps it, and its address is
// aligned. Throws if two results share memory.
bool CallFrame::can_be_written(AtenTensorHandle out) const {
  for (const AtenTensorHandle other : outs_) {
    if (other && other != out && share_memory(out, other)) {
      throw UserError("out: two results would be written to the same memory.");
    }
  }
  if (reinterpret_cast<uintptr_t>(data_of(out)) % kResultAlignment != 0) return false;
  for (size_t at = 0; at < views_.size(); ++at) {
    if (reads_memory_of(out, prepared_->operands[at].spec, views_[at])) return false;
  }
  return true;
}

const std::vector<ResultTensor>& CallFrame::run() {
  place_results();
  prepared_->program->run_into(views_, memory_, run_options_on(device_), results_);
  if (const int64_t bytes = prepared_->program->code_bytes(); bytes != code_bytes_) {
    code_bytes_ = bytes;
    note_growth(*prepared_);
  }
  fill_outs();
  return results_;
}

void CallFrame::fill_outs() {
  for (size_t at = 0; at < outs_.size(); ++at) {
    if (!outs_[at] || results_[at].values.handle == outs_[at]) continue;
    const AtenTensorHandle out = std::exchange(outs_[at], nullptr);
    copy_elements(take_values(at, results_[at]).get(), out);
    outs_[at] = out;
  }
}

OwnedTensor CallFrame::take_values(size_t result, const ResultTensor& found) {
  if (outs_[result]) return same_tensor(outs_[result]);
  if (found.values.handle) return memory_.take(found.values.handle);
  const TensorLayout& layout = prepared_->results[result];
  OwnedTensor values = operand_array(found.values, layout.arrays.size(), layout.spec.type);
  const auto shape = layout.is_plain ? std::span(found.sizes) : std::span(&found.values.length, 1);
  const bool is_shaped = rank_of(values.get()) == static_cast<int64_t>(shape.size()) &&
                         std::equal(shape.begin(), shape.end(), sizes_of(values.get()));
  return is_shaped ? std::move(values) : reshaped(values.get(), shape);
}

OwnedTensor CallFrame::take_array(const TensorLayout& layout, size_t array,
                                  const ResultTensor& found) {
  const ArrayPlace place = layout.arrays[array];
  const ResultArray& source = (place.is_pos ? found.pos : found.crd)[place.level];
  return source.handle ? memory_.take(source.handle) : operand_array(source, array, place.type);
}

// The operand tensor that a result shares: the one at the same place, else the one with the same
// memory. For an array without elements it makes a new tensor.
OwnedTensor CallFrame::operand_array(const ResultArray& found, size_t array, DType type) const {
  const auto operand = static_cast<size_t>(found.shared_operand);
  if (found.shared_operand < 0 && found.length == 0) {
    return new_tensor(type, std::span(&found.length, 1), device_);
  }
  if (found.shared_operand < 0 || operand >= views_.size()) {
    throw InternalError("A result has an array that is neither allocated nor shared.");
  }
  const Bound& bound = bound_[operand];
  const size_t count = bound.arrays.size() + 1;
  for (size_t step = 0; step < count; ++step) {
    const size_t at = (array + step) % count;
    const OwnedTensor& tensor = at < bound.arrays.size() ? bound.arrays[at] : *bound.values;
    if (data_of(tensor.get()) == found.data) return same_tensor(tensor.get());
  }
  throw InternalError("A result shares an array that its operand does not have.");
}

void CallFrame::clear() {
  memory_.clear();
  copies_.clear();
  std::fill(outs_.begin(), outs_.end(), nullptr);
  for (Bound& bound : bound_) {
    bound.arrays = {};
    bound.values = nullptr;
    bound.locked.reset();
    bound.known.reset();
  }
}

}  // namespace tulle::shim
