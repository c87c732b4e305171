// The text of schedules.
#include "schedule/schedule.h"

#include <algorithm>

#include "schedule/rewrites.h"
#include "support/check.h"
#include "support/joined.h"
#include "support/scanner.h"

namespace tulle::schedule {

namespace {

class ScheduleParser {
 public:
  explicit ScheduleParser(std::string_view text)
      : scanner_(text, "schedule", {.newlines = true, .comment = "#"}) {}

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
    Step step;
    if (scanner_.peek(1).is(":")) {
      const Token statement = scanner_.expect(TokenKind::Identifier, "the name of a result");
      step.statement = statement.text;
      step.statement_place = scanner_.span_of(statement);
      scanner_.next();
    }
    const size_t begin = scanner_.index();
    const Token name = scanner_.expect(TokenKind::Identifier, "the name of a rewrite");
    step.rewrite = name.text;
    step.place = scanner_.span_of(name);
    if (!find_rewrite(name.text)) check_step(step);
    scanner_.expect("(");
    ++open_;
    while (!accept(")")) {
      step.arguments.push_back(takes_format(step) ? format_argument() : argument());
      if (!here().is(")")) scanner_.expect(",");
    }
    --open_;
    step.place = scanner_.span_since(begin);
    check_step(step);
    return step;
  }

  // Whether the next argument of the step is a format.
  static bool takes_format(const Step& step) {
    const Rewrite& rewrite = *find_rewrite(step.rewrite);
    return rewrite.role(step.arguments.size()) == Role::Format;
  }

  // The text up to the parenthesis that closes the step.
  Argument format_argument() {
    const Token first = here();
    const size_t begin = scanner_.index();
    int depth = 0;
    while (depth > 0 || !(here().is(")") || here().is(","))) {
      const Token token = scanner_.next();
      if (token.kind == TokenKind::End) scanner_.fail(first, "expected a format and ')'");
      if (token.is("(") || token.is("{")) ++depth;
      if (token.is(")") || token.is("}")) --depth;
    }
    Argument argument;
    argument.place = scanner_.span_since(begin);
    argument.value = std::string(argument.place.text());
    return argument;
  }

  Argument argument() {
    Argument argument;
    const Token token = here();
    const size_t begin = scanner_.index();
    if (token.kind == TokenKind::Identifier && scanner_.peek(1).is("=")) {
      argument.keyword = scanner_.next().text;
      scanner_.next();
    }
    value(argument);
    argument.place = scanner_.span_since(begin);
    return argument;
  }

  void value(Argument& argument) {
    const Token token = here();
    if (token.kind == TokenKind::Identifier) {
      argument.value = std::string(scanner_.next().text);
    } else if (token.kind == TokenKind::Integer || token.is("-")) {
      argument.value = scanner_.expect_integer("a number");
    } else if (scanner_.accept("(")) {
      argument.value = names(argument.name_places);
    } else {
      scanner_.fail(token, "expected a name, a number or (names)");
    }
  }

  Names names(std::vector<Span>& places) {
    Names names;
    while (!accept(")")) {
      const Token name = scanner_.expect(TokenKind::Identifier, "a name or ')'");
      names.emplace_back(name.text);
      places.push_back(scanner_.span_of(name));
      if (!here().is(")")) scanner_.expect(",");
    }
    return names;
  }

  // The next token; inside parentheses line ends mean nothing.
  const Token& here() {
    while (open_ > 0 && scanner_.peek().kind == TokenKind::Newline) scanner_.next();
    return scanner_.peek();
  }

  bool accept(std::string_view spelling) {
    here();
    return scanner_.accept(spelling);
  }

  bool at_separator() const {
    return scanner_.peek().kind == TokenKind::Newline || scanner_.peek().is(";");
  }

  void skip_separators() {
    while (at_separator()) scanner_.next();
  }

  Scanner scanner_;
  int open_ = 0;  // parentheses
};

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
  return concat(step.statement, step.statement.empty() ? "" : ": ", step.rewrite, "(",
                joined(arguments), ")");
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule.steps) text += (text.empty() ? "" : "; ") + to_string(step);
  return text;
}

}  // namespace tulle::schedule
