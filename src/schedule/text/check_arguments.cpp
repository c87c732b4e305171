// What is wrong with a step by itself, whatever nest it is for.
#include <algorithm>
#include <set>

#include "schedule/rewrites.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

void check_keyword(const Rewrite& rewrite, const Argument& argument) {
  if (argument.keyword != rewrite.keyword) {
    fail_at(argument.place, concat("'", rewrite.name, "' has no argument '", argument.keyword,
                                   "'; write ", rewrite.usage));
  }
  const auto* word = std::get_if<std::string>(&argument.value);
  if (word &&
      std::find(rewrite.choices.begin(), rewrite.choices.end(), *word) != rewrite.choices.end()) {
    return;
  }
  fail_at(argument.place,
          concat("'", argument.keyword, "' has no such value; write ", rewrite.usage));
}

// "'block', 'warp' or 'lane'"
std::string one_of(const Names& words) {
  std::string text;
  for (size_t at = 0; at < words.size(); ++at) {
    text += concat(at == 0 ? "" : at + 1 == words.size() ? " or " : ", ", "'", words[at], "'");
  }
  return text;
}

bool holds(const Range& range, int64_t number) {
  if (number == 0) return range.zero;
  if (number < range.least || number > range.most) return false;
  return !range.powers_of_two || (number & (number - 1)) == 0;
}

// "2 to 64 lanes, a power of two"
std::string text_of(const Range& range) {
  return concat(range.least, " to ", range.most, range.of.empty() ? "" : " ", range.of,
                range.powers_of_two ? ", a power of two" : "", range.zero ? ", or 0 for all" : "");
}

void check_number(const Rewrite& rewrite, const Argument& argument, size_t at) {
  const Range& range = rewrite.parameter(at).range;
  const auto number = std::get<int64_t>(argument.value);
  if (holds(range, number)) return;
  fail_at(argument.place, concat("argument ", at + 1, " should be ", text_of(range), ", but ",
                                 number, " was given; write ", rewrite.usage));
}

void check_positional(const Rewrite& rewrite, const Argument& argument, size_t at) {
  auto expect = [&](bool is_right, std::string_view wanted) {
    if (is_right) return;
    fail_at(argument.place,
            concat("argument ", at + 1, " should be ", wanted, "; write ", rewrite.usage));
  };
  const auto* name = std::get_if<std::string>(&argument.value);
  switch (rewrite.role(at)) {
    case Role::Number:
      expect(std::holds_alternative<int64_t>(argument.value), "a number");
      return check_number(rewrite, argument, at);
    case Role::Loops:
      return expect(!std::holds_alternative<int64_t>(argument.value), "a name or (names)");
    case Role::Word:
      return expect(name && std::find(rewrite.words.begin(), rewrite.words.end(), *name) !=
                                rewrite.words.end(),
                    one_of(rewrite.words));
    case Role::Loop:
    case Role::NewLoop:
    case Role::NewWorkspace:
    case Role::Operand:
    case Role::Result:
    case Role::Statement:
    case Role::Format:
      return expect(name != nullptr, "a name");
  }
}

bool is_local_name(Role role) {
  return role == Role::Loop || role == Role::Loops || role == Role::NewLoop ||
         role == Role::NewWorkspace;
}

// The loops and workspaces that a step names are all different.
void check_different(const Rewrite& rewrite, const Step& step) {
  std::set<std::string> seen;
  auto add = [&](const std::string& name, const Span& place) {
    if (seen.insert(name).second) return;
    fail_at(place, concat("'", name, "' stands twice, and the names in a step differ; write ",
                          rewrite.usage));
  };
  size_t at = 0;
  for (const Argument& argument : step.arguments) {
    if (!argument.keyword.empty() || !is_local_name(rewrite.role(at++))) continue;
    if (const auto* name = std::get_if<std::string>(&argument.value)) add(*name, argument.place);
    if (const auto* names = std::get_if<Names>(&argument.value)) {
      const auto& places = argument.name_places;
      for (size_t n = 0; n < names->size(); ++n)
        add((*names)[n], n < places.size() ? places[n] : argument.place);
    }
  }
}

}  // namespace

void check_step(const Step& step) {
  const Rewrite* rewrite = find_rewrite(step.rewrite);
  if (!rewrite) {
    fail_at(step.place,
            concat("there is no rewrite '", step.rewrite, "'; they are ", rewrite_names()));
  }
  size_t count = 0;
  for (const Argument& argument : step.arguments) {
    if (argument.keyword.empty()) {
      ++count;
    } else {
      check_keyword(*rewrite, argument);
    }
  }
  if (count < rewrite->least || count > rewrite->most) {
    fail_at(step.place,
            concat("'", step.rewrite, "' does not take ", count,
                   count == 1 ? " argument" : " arguments", "; write ", rewrite->usage));
  }
  size_t at = 0;
  for (const Argument& argument : step.arguments) {
    if (argument.keyword.empty()) check_positional(*rewrite, argument, at++);
  }
  check_different(*rewrite, step);
}

}  // namespace tulle::schedule
