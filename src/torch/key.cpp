// Parses keys line by line.
#include "key.h"

#include <charconv>
#include <optional>

namespace tulle::shim {

namespace {

// Removes the first line from `rest`.
std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// Removes the first word and the following space from `rest`.
std::string_view take_word(std::string_view& rest) {
  const size_t end = rest.find(' ');
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return word;
}

[[noreturn]] void fail(std::string_view line, const std::string& message) {
  throw UserError("The key of a program has the line '" + std::string(line) + "': " + message +
                  ".");
}

DType parse_dtype(std::string_view word, std::string_view line) {
  const std::optional<DType> type = dtype_from_name(word);
  if (!type) fail(line, "'" + std::string(word) + "' is not an element type");
  return *type;
}

// Parses a nonnegative number; `what` describes it in messages.
int parse_number(std::string_view word, std::string_view line, const std::string& what) {
  int number = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 0) {
    fail(line, "'" + std::string(word) + "' is not " + what);
  }
  return number;
}

// Whether `line` starts with the word; sets `rest` to the text after it.
bool starts_with(std::string_view line, std::string_view word, std::string_view& rest) {
  rest = line;
  return take_word(rest) == word;
}

}  // namespace

TensorSpec parse_spec(std::string_view line) {
  std::string_view rest = line;
  TensorSpec spec;
  spec.name = take_word(rest);
  spec.type = parse_dtype(take_word(rest), line);
  spec.index_type = parse_dtype(take_word(rest), line);
  if (!is_integer(spec.index_type)) fail(line, "positions and coordinates are i32 or i64");
  spec.rank = parse_number(take_word(rest), line, "a rank");
  constexpr std::string_view kLongest = "longest=";
  if (rest.starts_with(kLongest)) {
    spec.longest_row =
        parse_number(take_word(rest).substr(kLongest.size()), line, "a number of entries");
  }
  constexpr std::string_view kLike = "like=";
  if (rest.starts_with(kLike)) spec.like = take_word(rest).substr(kLike.size());
  if (spec.name.empty() || rest.empty()) {
    fail(line, "expected a name, a type, an index type, a rank and a format");
  }
  spec.format = rest;
  return spec;
}

std::string to_string(const TensorSpec& spec) {
  std::string text = spec.name;
  text.append(" ").append(name_of(spec.type)).append(" ").append(name_of(spec.index_type));
  text.append(" ").append(std::to_string(spec.rank));
  if (spec.longest_row > 0) text.append(" longest=").append(std::to_string(spec.longest_row));
  if (!spec.like.empty()) text.append(" like=").append(spec.like);
  return text + " " + spec.format;
}

Key parse_key(std::string_view text) {
  Key key;
  std::string_view rest;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (starts_with(line, "operand", rest)) {
      key.operands.push_back(parse_spec(rest));
    } else if (starts_with(line, "out", rest)) {
      const std::string name(take_word(rest));
      if (rest.empty()) fail(line, "expected the name of a result and its format");
      key.options.out_formats[name] = rest;
    } else if (starts_with(line, "one", rest)) {
      const int operand = parse_number(take_word(rest), line, "an operand");
      key.options.ones.push_back({operand, parse_number(rest, line, "a dimension")});
    } else if (starts_with(line, "schedule", rest)) {
      key.options.schedule += std::string(rest) + "\n";
    } else if (starts_with(line, "features", rest)) {
      key.options.features = rest;
    } else if (starts_with(line, "reduce", rest)) {
      key.options.reduce = rest;
    } else if (line == "checked") {
      key.options.checked = true;
    } else if (line == "untuned") {
      key.options.tuned = false;
    } else if (line == "compute" || line == "einsum") {
      key.is_einsum = line == "einsum";
      key.text = text;
      return key;
    } else {
      fail(line,
           "expected operand, out, one, schedule, features, reduce, checked, untuned, einsum or "
           "compute");
    }
  }
  throw UserError("The key of a program ends without 'compute' or 'einsum'.");
}

}  // namespace tulle::shim
