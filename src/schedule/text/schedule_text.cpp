// The text of schedules.
#include "schedule/schedule.h"
#include "schedule/text/arguments.h"
#include "support/joined.h"
#include "support/scanner.h"
#include "support/similar_name.h"

namespace tulle::schedule {

namespace {

class ScheduleParser {
 public:
  explicit ScheduleParser(std::string_view text)
      : scanner_(text, "schedule", {.newlines = true, .comment = "#", .dotted_names = true}) {}

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
    const RewriteKind* kind = find_rewrite(name.text);
    if (!kind) {
      scanner_.fail(
          name, concat("there is no rewrite '", name.text, "'",
                       did_you_mean(name.text, rewrite_names()), "; they are ", rewrite_names()));
    }
    const std::vector<Argument> arguments = arguments_for(*kind);
    step.place = scanner_.span_since(begin);
    if (const auto checked = check_arguments(*kind, arguments); !checked)
      fail_at(checked.error().place ? checked.error().place : step.place, checked.error().why);
    step.rewrite = rewrite_of(*kind, arguments);
    step.name_places = places_of_names(*kind, arguments);
    return step;
  }

  std::vector<Argument> arguments_for(const RewriteKind& kind) {
    std::vector<Argument> arguments;
    scanner_.expect("(");
    ++open_;
    while (!accept(")")) {
      const bool is_format = kind.parameter(arguments.size()).role == ArgumentRole::Format;
      arguments.push_back(is_format ? format_argument() : argument());
      if (!here().is(")")) scanner_.expect(",");
    }
    --open_;
    return arguments;
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

  NameList names(std::vector<Span>& places) {
    NameList names;
    while (!accept(")")) {
      const Token name = scanner_.expect(TokenKind::Identifier, "a name or ')'");
      names.emplace_back(name.text);
      places.push_back(scanner_.span_of(name));
      if (!here().is(")")) scanner_.expect(",");
    }
    return names;
  }

  // The next token. Line ends inside parentheses are skipped.
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
  int open_ = 0;  // the number of open parentheses
};

}  // namespace

Schedule parse_schedule(std::string_view text) { return ScheduleParser(text).parse(); }

std::string to_string(const Step& step) {
  NameList arguments;
  for (const Argument& argument : arguments_of(step.rewrite))
    arguments.push_back(to_string(argument));
  return concat(step.statement, step.statement.empty() ? "" : ": ", kind_of(step.rewrite).name, "(",
                joined(arguments), ")");
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule.steps) text += (text.empty() ? "" : "; ") + to_string(step);
  return text;
}

}  // namespace tulle::schedule
