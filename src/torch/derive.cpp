// Operators that derive programs.
#include <string>
#include <vector>

#include <torch/csrc/stable/library.h>

#include "boxing.h"
#include "errors.h"
#include "key.h"
#include "tulle/derivative.h"

namespace tulle::shim {

namespace {

// The words of a text, which are separated by spaces.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// A line for each operand and result, then the statements.
std::string text_of(const Derivative& derivative) {
  std::string text;
  for (const DerivativeOperand& operand : derivative.operands) {
    text += "operand " + operand.name + " " + std::string(name_of(operand.role)) + " " +
            operand.of + "\n";
  }
  for (const DerivativeResult& result : derivative.results) {
    text += (result.name.empty() ? "zero" : "result " + result.name) + " " + result.of + "\n";
  }
  return text + "compute\n" + derivative.text;
}

void gradient_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key_text(stack[0]), wanted(stack[1]), seeds(stack[2]);
  stack[0] = with_named_errors([&] {
    const Key key = parse_key(key_text.view());
    const ProgramSource source{key.text, key.is_einsum, key.operands, key.options};
    return give_string(text_of(gradient(source, words_of(wanted.view()), words_of(seeds.view()))));
  });
}

void tangent_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key_text(stack[0]), moved(stack[1]);
  stack[0] = with_named_errors([&] {
    const Key key = parse_key(key_text.view());
    const ProgramSource source{key.text, key.is_einsum, key.operands, key.options};
    return give_string(text_of(tangent(source, words_of(moved.view()))));
  });
}

void batched_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key_text(stack[0]), wide(stack[1]);
  stack[0] = with_named_errors([&] {
    const Key key = parse_key(key_text.view());
    const ProgramSource source{key.text, key.is_einsum, key.operands, key.options};
    return give_string(batched(source, words_of(wide.view())));
  });
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  library.def("gradient(str key, str wanted, str seeds) -> str");
  library.def("tangent(str key, str moved) -> str");
  library.def("batched(str key, str wide) -> str");
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CompositeExplicitAutograd, library) {
  library.impl("gradient", &gradient_boxed);
  library.impl("tangent", &tangent_boxed);
  library.impl("batched", &batched_boxed);
}

}  // namespace tulle::shim
