// Checks the arguments of a step without a nest.
#include <algorithm>
#include <set>

#include "schedule/text/arguments.h"

namespace tulle::schedule {

namespace {

using Checked = Result<void, WrongArgument>;

Checked check_keyword(const RewriteKind& kind, const Argument& argument) {
  const Parameter* parameter = kind.with_keyword(argument.keyword);
  if (!parameter) {
    return WrongArgument{argument.place, concat("'", kind.name, "' has no argument '",
                                                argument.keyword, "'; write ", kind.usage)};
  }
  const auto* word = std::get_if<std::string>(&argument.value);
  if (word && contains(parameter->words, *word)) return {};
  return WrongArgument{argument.place,
                       concat("'", argument.keyword, "' has no such value; write ", kind.usage)};
}

// "'block', 'warp' or 'lane'"
std::string one_of(const NameList& words) {
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

// Checks the positional argument with this number.
Checked check_positional(const RewriteKind& kind, const Argument& argument, size_t at) {
  const Parameter& parameter = kind.parameter(at);
  const auto expect = [&](bool is_right, std::string_view wanted) -> Checked {
    if (is_right) return {};
    return WrongArgument{
        argument.place, concat("argument ", at + 1, " should be ", wanted, "; write ", kind.usage)};
  };
  const auto* name = std::get_if<std::string>(&argument.value);
  if (parameter.role == ArgumentRole::Word)
    return expect(name && contains(parameter.words, *name), one_of(parameter.words));
  const auto* number = std::get_if<int64_t>(&argument.value);
  if (parameter.takes_list) return expect(!number, "a name or (names)");
  if (parameter.role != ArgumentRole::Number) return expect(name, "a name");
  if (!number || holds(parameter.range, *number)) return expect(number, "a number");
  return WrongArgument{
      argument.place, concat("argument ", at + 1, " should be ", text_of(parameter.range), ", but ",
                             *number, " was given; write ", kind.usage)};
}

bool is_local_name(ArgumentRole role) {
  return role == ArgumentRole::Loop || role == ArgumentRole::NewLoop ||
         role == ArgumentRole::NewWorkspace;
}

// A step must name different loops and workspaces.
Checked check_different(const RewriteKind& kind, const std::vector<Argument>& arguments) {
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, const Span& place) -> Checked {
    if (seen.insert(name).second) return {};
    return WrongArgument{
        place, concat("'", name, "' stands twice, and the names in a step differ; ", "write ",
                      kind.usage)};
  };
  size_t at = 0;
  for (const Argument& argument : arguments) {
    if (!argument.keyword.empty() || !is_local_name(kind.parameter(at++).role)) continue;
    if (const auto* name = std::get_if<std::string>(&argument.value))
      TULLE_TRY(add(*name, argument.place));
    if (const auto* names = std::get_if<NameList>(&argument.value)) {
      const auto& places = argument.name_places;
      for (size_t n = 0; n < names->size(); ++n)
        TULLE_TRY(add((*names)[n], n < places.size() ? places[n] : argument.place));
    }
  }
  return {};
}

Checked check_count(const RewriteKind& kind, size_t count) {
  size_t least = 0, most = 0;
  for (const Parameter& parameter : kind.parameters) {
    if (!parameter.keyword.empty()) continue;
    least += parameter.least;
    most = parameter.most > SIZE_MAX - most ? SIZE_MAX : most + parameter.most;
  }
  if (count >= least && count <= most) return {};
  return WrongArgument{{},
                       concat("'", kind.name, "' does not take ", count,
                              count == 1 ? " argument" : " arguments", "; write ", kind.usage)};
}

}  // namespace

Checked check_arguments(const RewriteKind& kind, const std::vector<Argument>& arguments) {
  size_t count = 0;
  for (const Argument& argument : arguments) {
    if (argument.keyword.empty()) {
      ++count;
    } else {
      TULLE_TRY(check_keyword(kind, argument));
    }
  }
  TULLE_TRY(check_count(kind, count));
  size_t at = 0;
  for (const Argument& argument : arguments) {
    if (argument.keyword.empty()) TULLE_TRY(check_positional(kind, argument, at++));
  }
  return check_different(kind, arguments);
}

Result<> check_arguments(const Rewrite& rewrite) {
  const auto checked = check_arguments(kind_of(rewrite), arguments_of(rewrite));
  if (!checked) return Refusal{checked.error().why};
  return {};
}

}  // namespace tulle::schedule
