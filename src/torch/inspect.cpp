// Operators that describe programs and formats, check structure, and set limits.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/stable/library.h>

#include "bind.h"
#include "boxing.h"
#include "check_structure.h"
#include "dense_limit.h"
#include "errors.h"
#include "key.h"
#include "parallel.h"
#include "programs.h"
#include "structures.h"
#include "tulle/version.h"

namespace tulle::shim {

namespace {

// Two lines for each result: its spec, then the sources of its sizes ("0.1" is dimension 1 of the
// first operand).
std::string describe_program(std::string_view key) {
  const auto program = find_program(key);  // kept alive if other threads drop it
  std::string text;
  for (const TensorLayout& layout : program->results) {
    text += to_string(layout.spec) + "\n";
    for (const auto [operand, dimension] : layout.spec.sizes_from) {
      text += std::to_string(operand) + "." + std::to_string(dimension) + " ";
    }
    text += "\n";
  }
  return text;
}

// The long form, the shortest form, then a line for each level with the members of LevelInfo in
// order. For a composite format: a line "sorted" with the input format of select_parts, then for
// each part a line with its format and one with its selector.
std::string describe_format_text(std::string_view format, int64_t rank) {
  const FormatInfo info = describe_format(format, static_cast<int>(rank));
  std::string text = info.text + "\n" + info.name + "\n";
  if (!info.parts.empty()) text += "sorted " + info.sorted + "\n";
  for (const PartInfo& part : info.parts) text += part.format + "\n" + part.selector + "\n";
  for (const LevelInfo& level : info.levels) {
    for (const bool flag :
         {level.pos, level.crd, level.bits, level.full, level.direct, level.unused})
      text += std::to_string(flag) + " ";
    text += std::to_string(level.width) + " " + std::to_string(level.dimension) + " " + level.part +
            " " + std::to_string(level.divisor) + " " + std::to_string(level.second) + "\n";
  }
  return text;
}

// A line for each operand, assigned name and decomposed operand: "operand A", "assigned C".
std::string describe_notation_text(std::string_view notation, std::string_view schedule) {
  const NotationInfo info = describe_notation(notation, schedule);
  std::string text;
  for (const std::string& name : info.operands) text += "operand " + name + "\n";
  for (const std::string& name : info.assigned) text += "assigned " + name + "\n";
  for (const auto& [name, format] : info.decomposed)
    text += "decomposed " + name + " " + format + "\n";
  return text;
}

// The arguments of a structure check: `name` is the tensor's name in messages, `spec` its operand
// line without the name.
struct Structure {
  explicit Structure(const StableIValue* stack)
      : name(stack[0]),
        spec(stack[1]),
        sizes(take_tensor(stack[2])),
        tensors(take_list(stack[3])) {}
  StringArgument name, spec;
  OwnedTensor sizes;
  std::vector<OwnedTensor> tensors;
};

// Calls `check` with the spec and the view of the structure.
template <typename Check>
auto check_structure(const Structure& structure, const Check& check) {
  TensorLayout layout = layout_of(parse_spec("tensor " + std::string(structure.spec.view())));
  layout.spec.name = structure.name.view();
  return check(layout.spec, bind_alone(layout, structure.sizes.get(), structure.tensors).view);
}

void finish_compiling_boxed(StableIValue*, uint64_t, uint64_t) {
  with_named_errors([] { finish_compiling(); });
}

void describe_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  stack[0] = with_named_errors([&] { return give_string(describe_program(key.view())); });
}

void describe_format_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument format(stack[0]);
  const auto rank = torch::stable::detail::to<int64_t>(stack[1]);
  stack[0] =
      with_named_errors([&] { return give_string(describe_format_text(format.view(), rank)); });
}

void describe_notation_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument notation(stack[0]);
  const StringArgument schedule(stack[1]);
  stack[0] = with_named_errors(
      [&] { return give_string(describe_notation_text(notation.view(), schedule.view())); });
}

void validate_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const Structure structure(stack);
  with_named_errors([&] {
    check_structure(structure, [](const TensorSpec& spec, const TensorView& view) {
      validate(spec, view, run_options());
    });
  });
}

void is_in_order_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const Structure structure(stack);
  stack[0] = torch::stable::detail::from(with_named_errors([&] {
    return check_structure(structure, [](const TensorSpec& spec, const TensorView& view) {
      return is_in_order(spec, view, run_options());
    });
  }));
}

// The number of programs, the number of loaded code objects, and their size in bytes.
std::string describe_loaded() {
  const LoadedCode code = loaded_code();
  return std::to_string(program_count()) + " " + std::to_string(code.objects) + " " +
         std::to_string(code.bytes);
}

void loaded_boxed(StableIValue* stack, uint64_t, uint64_t) {
  stack[0] = with_named_errors([&] { return give_string(describe_loaded()); });
}

void new_structure_boxed(StableIValue* stack, uint64_t, uint64_t) {
  stack[0] = torch::stable::detail::from(static_cast<int64_t>(new_structure_number()));
}

void forget_structure_boxed(StableIValue* stack, uint64_t, uint64_t) {
  forget_structure(static_cast<uint64_t>(torch::stable::detail::to<int64_t>(stack[0])));
}

// The device of the arrays; throws UserError if they are on different devices.
Device device_of_all(std::span<const OwnedTensor> arrays) {
  const Device device = arrays.empty() ? Device() : device_of(arrays[0].get());
  for (const OwnedTensor& array : arrays) {
    if (device_of(array.get()) == device) continue;
    throw UserError("The arrays of a structure are on two devices: " + to_string(device) + " and " +
                    to_string(device_of(array.get())) + ".");
  }
  return device;
}

// The layout of a spec. A thread keeps the last ones: callers hold many structures of few formats.
const TensorLayout& known_layout(std::string_view spec) {
  constexpr size_t kMost = 256;
  thread_local std::map<std::string, TensorLayout, std::less<>> layouts;
  auto found = layouts.find(spec);
  if (found == layouts.end()) {
    TensorLayout layout = layout_of(parse_spec("structure " + std::string(spec)));
    layout.spec.name = "The structure";
    if (layouts.size() >= kMost) layouts.clear();
    found = layouts.emplace(std::string(spec), std::move(layout)).first;
  }
  return found->second;
}

void hold(int64_t token, uint64_t structure, std::string_view spec, AtenTensorHandle sizes,
          std::vector<OwnedTensor> arrays, int64_t value_count) {
  const TensorLayout& layout = known_layout(spec);
  if (arrays.size() != layout.arrays.size()) {
    throw UserError("Expected a structure of " + std::to_string(layout.arrays.size()) +
                    " arrays, but found " + std::to_string(arrays.size()) + ".");
  }
  const std::vector<int64_t> numbers =
      numbers_of(layout.spec.name, sizes, static_cast<int64_t>(layout.number_count()));
  HeldArrays held{.structure = structure,
                  .spans = spans_of(layout, arrays),
                  .device = device_of_all(arrays),
                  .long_form = layout.long_form,
                  .index_type = layout.spec.index_type,
                  .numbers = numbers,
                  .value_count = value_count,
                  .version = version_of(arrays)};
  if (!is_trust_token(token)) check_structure(layout, arrays, numbers.data(), value_count);
  held.arrays = std::move(arrays);
  hold_arrays(std::move(held));
}

void hold_structure_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const auto token = torch::stable::detail::to<int64_t>(stack[0]);
  const auto structure = static_cast<uint64_t>(torch::stable::detail::to<int64_t>(stack[1]));
  const StringArgument spec(stack[2]);
  const OwnedTensor sizes = take_tensor(stack[3]);
  std::vector<OwnedTensor> arrays = take_list(stack[4]);
  const auto value_count = torch::stable::detail::to<int64_t>(stack[5]);
  with_named_errors(
      [&] { hold(token, structure, spec.view(), sizes.get(), std::move(arrays), value_count); });
}

void take_trust_boxed(StableIValue* stack, uint64_t, uint64_t) {
  stack[0] = torch::stable::detail::from(with_named_errors([] { return take_trust_token(); }));
}

void release_structure_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const auto structure = static_cast<uint64_t>(torch::stable::detail::to<int64_t>(stack[0]));
  forget_structure(structure);
  release_arrays(structure);
}

// The cached data of a structure: lines of a description and a number of bytes.
void kept_data_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const auto structure = static_cast<uint64_t>(torch::stable::detail::to<int64_t>(stack[0]));
  stack[0] = with_named_errors([&] {
    std::string text;
    for (const KeptData& kept : kept_data(structure))
      text += kept.what + " " + std::to_string(kept.bytes) + "\n";
    return give_string(text);
  });
}

void version_boxed(StableIValue* stack, uint64_t, uint64_t) { stack[0] = give_string(version()); }

void set_dense_limit_boxed(StableIValue* stack, uint64_t, uint64_t) {
  set_dense_limit(torch::stable::detail::to<int64_t>(stack[0]));
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  library.def("version() -> str");
  library.def("describe(str key) -> str");
  library.def("loaded() -> str");
  library.def("finish_compiling() -> ()");
  library.def("describe_format(str format, int rank) -> str");
  library.def("describe_notation(str text, str schedule) -> str");
  library.def("validate(str name, str spec, Tensor sizes, Tensor[] tensors) -> ()");
  library.def("is_in_order(str name, str spec, Tensor sizes, Tensor[] tensors) -> bool");
  library.def("set_dense_limit(int bytes) -> ()");
  library.def("new_structure() -> int");
  library.def("forget_structure(int structure) -> ()");
  library.def("take_trust() -> int");
  library.def(
      "hold_structure(int token, int structure, str spec, Tensor sizes, Tensor[] arrays, int "
      "values) -> ()");
  library.def("release_structure(int structure) -> ()");
  library.def("kept_data(int structure) -> str");
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CompositeExplicitAutograd, library) {
  library.impl("version", &version_boxed);
  library.impl("describe", &describe_boxed);
  library.impl("loaded", &loaded_boxed);
  library.impl("finish_compiling", &finish_compiling_boxed);
  library.impl("describe_format", &describe_format_boxed);
  library.impl("describe_notation", &describe_notation_boxed);
  library.impl("set_dense_limit", &set_dense_limit_boxed);
  library.impl("new_structure", &new_structure_boxed);
  library.impl("forget_structure", &forget_structure_boxed);
  library.impl("take_trust", &take_trust_boxed);
  library.impl("hold_structure", &hold_structure_boxed);
  library.impl("release_structure", &release_structure_boxed);
  library.impl("kept_data", &kept_data_boxed);
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) {
  library.impl("validate", &validate_boxed);
  library.impl("is_in_order", &is_in_order_boxed);
}

}  // namespace tulle::shim
