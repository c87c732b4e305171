// The fixture's functions.
#include "expr/fixture.h"

#include "support/check.h"

namespace tulle::expr {

TensorType type(const std::string& text, int rank) {
  const size_t space = text.find(' ');
  const std::optional<DType> element = dtype_from_name(text.substr(0, space));
  const std::string format = element ? text.substr(space + 1) : text;
  return {element.value_or(DType::Float32), DType::Int32, Format::parse(format, rank)};
}

ResolvedProgram resolved(const std::string& program, const std::vector<Operand>& operands,
                         const ResolveOptions& options) {
  std::map<std::string, TensorType> types;
  for (const Operand& operand : operands) types[operand.name] = type(operand.text, operand.rank);
  return resolve(parse_program(program), types, options);
}

std::string text_of(const ResolvedProgram& program) {
  std::string text = to_string(ParsedProgram{program.statements});
  text.pop_back();
  return text;
}

ReferenceTensor tensor(std::vector<int64_t> sizes,
                       const std::vector<std::optional<double>>& entries, DType type) {
  ReferenceTensor result{.type = type, .sizes = std::move(sizes)};
  for (const std::optional<double>& entry : entries) {
    if (is_float(type)) {
      result.floats.push_back(entry.value_or(0));
    } else {
      result.integers.push_back(static_cast<int64_t>(entry.value_or(0)));
    }
    result.stored.push_back(entry.has_value());
  }
  TULLE_CHECK(static_cast<size_t>(result.count()) == entries.size());
  return result;
}

std::string entries(const ReferenceTensor& tensor) {
  std::string text;
  for (size_t at = 0; at < tensor.stored.size(); ++at) {
    const std::string value =
        is_float(tensor.type) ? concat(tensor.floats[at]) : concat(tensor.integers[at]);
    text += (text.empty() ? "" : " ") + (tensor.stored[at] ? value : "_");
  }
  return text;
}

std::string underlined(const std::string& message) {
  const size_t carets = message.rfind("\n  ") + 3;
  const size_t line = message.rfind("\n  ", carets - 4) + 3;
  std::string text;
  for (size_t at = carets; at < message.size(); ++at) {
    if (message[at] != '^') continue;
    const bool is_first = message[at - 1] != '^';
    if (is_first && !text.empty()) text += ' ';
    const size_t above = line + at - carets;
    if (above < carets - 3) text += message[above];
  }
  return text;
}

}  // namespace tulle::expr
