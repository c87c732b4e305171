// The text of schedules.
#include "schedule/schedule.h"

#include <algorithm>

#include "schedule/rewrites.h"
#include "support/check.h"
#include "support/scanner.h"

namespace tulle::schedule {

namespace {

class ScheduleParser {
 public:
  explicit ScheduleParser(std::string_view text) : scanner_(text, "schedule", {.newlines = true}) {}

  Schedule parse() {
    Schedule schedule;
    skip_separators();
    while (!scanner_.at_end()) {
      schedule.steps.push_back(step());
      if (!scanner_.at_end() && !at_separator())
        scanner_.fail(scanner_.peek(), "expected ';' or the end");
      skip_separators();
    }
    return schedule;
  }

 private:
  Step step() {
    const Token name = scanner_.expect(TokenKind::Identifier, "the name of a rewrite");
    if (!find_rewrite(name.text)) {
      scanner_.fail(name,
                    concat("there is no rewrite '", name.text, "'; they are ", rewrite_names()));
    }
    Step step{.rewrite = std::string(name.text)};
    scanner_.expect("(");
    while (!scanner_.accept(")")) {
      step.arguments.push_back(argument());
      if (!scanner_.peek().is(")")) scanner_.expect(",");
    }
    return step;
  }

  Argument argument() {
    Argument argument;
    if (scanner_.peek().kind == TokenKind::Identifier && scanner_.peek(1).is("=")) {
      argument.keyword = scanner_.next().text;
      scanner_.next();
    }
    const Token token = scanner_.peek();
    if (token.kind == TokenKind::Identifier) {
      argument.value = std::string(scanner_.next().text);
    } else if (token.kind == TokenKind::Integer || token.is("-")) {
      argument.value = scanner_.expect_integer("a number");
    } else if (scanner_.accept("(")) {
      argument.value = names();
    } else {
      scanner_.fail(token, "expected a name, a number or (names)");
    }
    return argument;
  }

  Names names() {
    Names names;
    while (!scanner_.accept(")")) {
      names.emplace_back(scanner_.expect(TokenKind::Identifier, "a name or ')'").text);
      if (!scanner_.peek().is(")")) scanner_.expect(",");
    }
    return names;
  }

  bool at_separator() const {
    return scanner_.peek().kind == TokenKind::Newline || scanner_.peek().is(";");
  }

  void skip_separators() {
    while (at_separator()) scanner_.next();
  }

  Scanner scanner_;
};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string to_string(const Argument& argument) {
  const std::string keyword = argument.keyword.empty() ? "" : argument.keyword + "=";
  if (const auto* name = std::get_if<std::string>(&argument.value)) return keyword + *name;
  if (const auto* number = std::get_if<int64_t>(&argument.value)) return concat(keyword, *number);
  return concat(keyword, "(", joined(std::get<Names>(argument.value)), ")");
}

}  // namespace

Schedule parse_schedule(std::string_view text) { return ScheduleParser(text).parse(); }

std::string to_string(const Step& step) {
  Names arguments;
  for (const Argument& argument : step.arguments) arguments.push_back(to_string(argument));
  return concat(step.rewrite, "(", joined(arguments), ")");
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule.steps) text += (text.empty() ? "" : "; ") + to_string(step);
  return text;
}

}  // namespace tulle::schedule
