// tulle::call1 to call8: programs with one result, of which only the values are new. The number of
// tensors is part of the name because a list of tensors costs more to hand over than the whole
// call.
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

OwnedTensor call(std::string_view key, AtenTensorHandle sizes,
                 std::span<const OwnedTensor> tensors) {
  Frame& frame = frame_for(key);
  struct Clear {
    Frame& frame;
    ~Clear() { frame.clear(); }
  } const clear{frame};
  if (frame.prepared().results.size() != 1) {
    throw UserError("The program has several results; tulle::run returns all of them.");
  }
  frame.bind(sizes, tensors);
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
  stack[0] = with_named_errors([&] { return give_tensor(call(key.view(), sizes.get(), tensors)); });
}

template <size_t... index>
void define_all(torch::stable::detail::StableLibrary& library, std::index_sequence<index...>) {
  std::string arguments = "str key, Tensor sizes";
  const auto define = [&](size_t count) {
    arguments += ", Tensor t" + std::to_string(count - 1);
    library.def(("call" + std::to_string(count) + "(" + arguments + ") -> Tensor").c_str());
  };
  (define(index + 1), ...);
}

template <size_t... index>
void implement_all(torch::stable::detail::StableLibrary& library, std::index_sequence<index...>) {
  (library.impl(("call" + std::to_string(index + 1)).c_str(), &call_boxed<index + 1>), ...);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  define_all(library, std::make_index_sequence<kMaxTensors>());
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) {
  implement_all(library, std::make_index_sequence<kMaxTensors>());
}

}  // namespace tulle::shim
