// tulle::call1 to call8, and quick1 to quick8 by number instead of key: programs with one result,
// of which only the values are new. The number of tensors is part of the name because a list of
// tensors costs more to hand over than the whole call.
#include <array>
#include <string>
#include <utility>

#include <torch/csrc/stable/library.h>

#include "boxing.h"
#include "errors.h"
#include "frame.h"
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

OwnedTensor call(Frame& frame, AtenTensorHandle sizes, std::span<const OwnedTensor> tensors,
                 size_t skipped) {
  struct Clear {
    Frame& frame;
    ~Clear() { frame.clear(); }
  } const clear{frame};
  if (frame.prepared().results.size() != 1) {
    throw UserError("The program has several results; tulle::run returns all of them.");
  }
  frame.bind(sizes, tensors, skipped);
  const std::vector<ResultTensor>& results = frame.run();
  check_shares_structure(frame.prepared(), results[0]);
  return frame.take_values(0, results[0]);
}

// Key and sizes come first on the stack, then the tensors.
template <size_t count>
void call_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  const OwnedTensor sizes = take_tensor(stack[1]);
  std::array<OwnedTensor, count> tensors;
  for (size_t at = 0; at < count; ++at) tensors[at] = take_tensor(stack[2 + at]);
  stack[0] = with_named_errors(
      [&] { return give_tensor(call(frame_for(key.view()), sizes.get(), tensors, 0)); });
}

// The number of the program stands before the sizes, in one tensor.
template <size_t count>
void quick_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const OwnedTensor head = take_tensor(stack[0]);
  std::array<OwnedTensor, count> tensors;
  for (size_t at = 0; at < count; ++at) tensors[at] = take_tensor(stack[1 + at]);
  stack[0] = with_named_errors([&] {
    if (!has_type(head.get(), DType::Int64) || element_count(head.get()) < 1) {
      throw UserError("Expected the program's number and the sizes, but found " +
                      describe(head.get()) + ".");
    }
    const int64_t number = *static_cast<const int64_t*>(data_of(head.get()));
    return give_tensor(call(frame_for(number), head.get(), tensors, 1));
  });
}

void number_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  stack[0] =
      torch::stable::detail::from(with_named_errors([&] { return number_of_program(key.view()); }));
}

template <size_t... index>
void define_all(torch::stable::detail::StableLibrary& library, std::index_sequence<index...>) {
  std::string arguments = "str key, Tensor sizes";
  std::string quick_arguments = "Tensor head";
  const auto define = [&](size_t count) {
    arguments += ", Tensor t" + std::to_string(count - 1);
    library.def(("call" + std::to_string(count) + "(" + arguments + ") -> Tensor").c_str());
    quick_arguments += ", Tensor t" + std::to_string(count - 1);
    library.def(("quick" + std::to_string(count) + "(" + quick_arguments + ") -> Tensor").c_str());
  };
  (define(index + 1), ...);
}

template <size_t... index>
void implement_all(torch::stable::detail::StableLibrary& library, std::index_sequence<index...>) {
  (library.impl(("call" + std::to_string(index + 1)).c_str(), &call_boxed<index + 1>), ...);
  (library.impl(("quick" + std::to_string(index + 1)).c_str(), &quick_boxed<index + 1>), ...);
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

}  // namespace tulle::shim
