// The operators for programs with one result that is dense or has an operand's structure:
// tulle::call1 to call8, and into1 to into8, which write the values to an existing tensor. The
// number of tensors is part of the operator name, because passing a list of tensors costs more than
// the whole call.
#include <array>
#include <string>
#include <utility>

#include <torch/csrc/stable/library.h>

#include "boxing.h"
#include "call_frames.h"
#include "errors.h"
#include "tulle/error.h"

namespace tulle::shim {

namespace {

constexpr size_t kMaxTensors = 8;

void check_shares_structure(const Prepared& prepared, const ResultTensor& result) {
  for (const ArrayPlace place : prepared.results[0].arrays) {
    if ((place.is_pos ? result.pos : result.crd)[place.level].shared_operand < 0) {
      throw UserError("The result has a structure of its own; tulle::run returns that too.");
    }
  }
}

// Runs a program with one result, into `out` unless it is null.
const ResultTensor& run_one(CallFrame& frame, AtenTensorHandle head,
                            std::span<const OwnedTensor> tensors, AtenTensorHandle out) {
  if (frame.prepared().results.size() != 1) {
    throw UserError("The program has several results; tulle::run returns all of them.");
  }
  frame.bind(head, tensors, 1);
  if (out) frame.give(0, out);
  return frame.run()[0];
}

OwnedTensor call(CallFrame& frame, AtenTensorHandle head, std::span<const OwnedTensor> tensors) {
  const ClearAfterCall clear{frame};
  const ResultTensor& result = run_one(frame, head, tensors, nullptr);
  check_shares_structure(frame.prepared(), result);
  return frame.take_values(0, result);
}

// The stack holds the head, then the tensors.
template <size_t count>
void call_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const OwnedTensor head = take_tensor(stack[0]);
  std::array<OwnedTensor, count> tensors;
  for (size_t at = 0; at < count; ++at) tensors[at] = take_tensor(stack[1 + at]);
  stack[0] = with_named_errors(
      [&] { return give_tensor(call(call_frame_of(head.get()), head.get(), tensors)); });
}

template <size_t count>
void into_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const OwnedTensor head = take_tensor(stack[0]);
  const OwnedTensor out = take_tensor(stack[1]);
  std::array<OwnedTensor, count> tensors;
  for (size_t at = 0; at < count; ++at) tensors[at] = take_tensor(stack[2 + at]);
  with_named_errors([&] {
    CallFrame& frame = call_frame_of(head.get());
    const ClearAfterCall clear{frame};
    run_one(frame, head.get(), tensors, out.get());
  });
}

void number_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  stack[0] =
      torch::stable::detail::from(with_named_errors([&] { return number_of_program(key.view()); }));
}

template <size_t... index>
void define_all(torch::stable::detail::StableLibrary& library, std::index_sequence<index...>) {
  std::string tensors;
  const auto define = [&](const std::string& count) {
    tensors += ", Tensor t" + count;
    library.def(("call" + count + "(Tensor head" + tensors + ") -> Tensor").c_str());
    library.def(("into" + count + "(Tensor head, Tensor(a!) out" + tensors + ") -> ()").c_str());
  };
  (define(std::to_string(index + 1)), ...);
}

template <size_t... index>
void implement_all(torch::stable::detail::StableLibrary& library, std::index_sequence<index...>) {
  (library.impl(("call" + std::to_string(index + 1)).c_str(), &call_boxed<index + 1>), ...);
  (library.impl(("into" + std::to_string(index + 1)).c_str(), &into_boxed<index + 1>), ...);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  define_all(library, std::make_index_sequence<kMaxTensors>());
  library.def("number(str key) -> int");
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CompositeExplicitAutograd, library) {
  library.impl("number", &number_boxed);
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) {
  implement_all(library, std::make_index_sequence<kMaxTensors>());
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CUDA, library) {
  implement_all(library, std::make_index_sequence<kMaxTensors>());
}

}  // namespace tulle::shim
