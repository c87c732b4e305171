// Cases as text: one line for each statement, operand and setting.
#include <algorithm>
#include <charconv>

#include "differential/differential.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The next separator outside of braces, which belong to composite formats.
size_t find_outside(std::string_view text, char separator) {
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}') --depth;
    if (text[at] == separator && depth == 0) return at;
  }
  return text.size();
}

// The parts between separators, without surrounding spaces.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = find_outside(text, separator);
    parts.push_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

template <typename Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) user_error("a number: ", text);
  return value;
}

DType type_named(std::string_view text) {
  if (const auto type = dtype_from_name(text)) return *type;
  user_error("a type: ", text);
}

// A; csr; f32; i32; 7,9; density 0.3; zeros; empty rows
Operand parse_operand(std::string_view text) {
  const std::vector<std::string_view> fields = parts_of(text, ';');
  if (fields.size() < 5) user_error("an operand: ", text);
  Operand operand;
  operand.name = fields[0];
  operand.format = fields[1];
  operand.type = type_named(fields[2]);
  operand.index_type = type_named(fields[3]);
  for (const std::string_view size : parts_of(fields[4], ','))
    operand.sizes.push_back(number<int64_t>(size));
  for (size_t f = 5; f < fields.size(); ++f) {
    constexpr std::string_view kDensity = "density ";
    if (fields[f].starts_with(kDensity)) {
      operand.density = number<double>(fields[f].substr(kDensity.size()));
    } else if (fields[f] == "zeros") {
      operand.explicit_zeros = true;
    } else if (fields[f] == "empty rows") {
      operand.spread = Spread::EmptyRows;
    } else if (fields[f] == "one entry") {
      operand.spread = Spread::OneEntry;
    } else if (constexpr std::string_view kLongest = "longest row ";
               fields[f].starts_with(kLongest)) {
      operand.longest_row = number<int64_t>(fields[f].substr(kLongest.size()));
    } else {
      user_error("something else of an operand: ", fields[f]);
    }
  }
  return operand;
}

std::string text_of(const Operand& operand) {
  std::string text = concat("operand: ", operand.name, "; ", operand.format, "; ",
                            name_of(operand.type), "; ", name_of(operand.index_type), "; ");
  for (size_t d = 0; d < operand.sizes.size(); ++d) text += concat(d ? "," : "", operand.sizes[d]);
  text += concat("; density ", operand.density);
  if (operand.explicit_zeros) text += "; zeros";
  if (operand.spread == Spread::EmptyRows) text += "; empty rows";
  if (operand.spread == Spread::OneEntry) text += "; one entry";
  if (operand.longest_row > 0) text += concat("; longest row ", operand.longest_row);
  return text + "\n";
}

}  // namespace

std::string to_string(const Case& test) {
  std::string text;
  for (const std::string_view statement : parts_of(test.text, '\n'))
    text += concat("program: ", statement, "\n");
  for (const Operand& operand : test.operands) text += text_of(operand);
  for (const auto& [name, format] : test.out_formats)
    text += concat("out: ", name, "; ", format, "\n");
  if (!test.schedule.empty()) text += concat("schedule: ", test.schedule, "\n");
  if (!test.features.empty()) text += concat("features: ", test.features, "\n");
  if (test.gpu) text += "device: gpu\n";
  if (test.multiprocessors > 0) text += concat("multiprocessors: ", test.multiprocessors, "\n");
  if (test.deterministic) text += "sums: one order\n";
  if (!test.small_chunks) text += "chunks: large\n";
  if (test.one_body) text += "bodies: one\n";
  if (test.light) text += "code: light\n";
  return text + concat("seed: ", test.seed, "\nthreads: ", test.threads, "\n");
}

Case parse_case(std::string_view text) {
  Case test;
  for (const std::string_view line : parts_of(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) user_error("a line of a case: ", line);
    const std::string_view key = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
    if (key == "program") {
      test.text += concat(test.text.empty() ? "" : "\n", value);
    } else if (key == "operand") {
      test.operands.push_back(parse_operand(value));
    } else if (key == "out") {
      const std::vector<std::string_view> fields = parts_of(value, ';');
      if (fields.size() != 2) user_error("a result's name and format: ", value);
      test.out_formats[std::string(fields[0])] = fields[1];
    } else if (key == "schedule") {
      test.schedule = value;
    } else if (key == "features") {
      test.features = value;
    } else if (key == "device") {
      test.gpu = value == "gpu";
    } else if (key == "multiprocessors") {
      test.multiprocessors = number<int>(value);
    } else if (key == "sums") {
      test.deterministic = value == "one order";
    } else if (key == "chunks") {
      test.small_chunks = value != "large";
    } else if (key == "bodies") {
      test.one_body = value == "one";
    } else if (key == "code") {
      test.light = value == "light";
    } else if (key == "seed") {
      test.seed = number<unsigned>(value);
    } else if (key == "threads") {
      test.threads = number<int>(value);
    } else {
      user_error("a line of a case: ", line);
    }
  }
  return test;
}

}  // namespace tulle::differential
