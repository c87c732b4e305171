// A schedule: the list of rewrites that a nest goes through, and its text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nest/nest.h"
#include "support/remarks.h"
#include "support/source.h"

namespace tulle::schedule {

using Names = std::vector<std::string>;

// A name, an integer or (names), perhaps given by keyword: k, 64, (i, k), by=nnz.
struct Argument {
  std::string keyword;
  std::variant<std::string, int64_t, Names> value;
  Span place = {};
  std::vector<Span> name_places = {};  // of (names)

  bool operator==(const Argument& other) const {
    return keyword == other.keyword && value == other.value;
  }
};

// split(k, 64, k0, k1), perhaps for one statement alone: C: split(k, 64, k0, k1)
struct Step {
  std::string rewrite;
  std::vector<Argument> arguments;
  std::string statement = {};  // the tensor that it assigns; empty: see distribute.h
  Span place = {};             // without the statement
  Span statement_place = {};

  bool operator==(const Step& other) const {
    return rewrite == other.rewrite && arguments == other.arguments && statement == other.statement;
  }
};

struct Schedule {
  std::vector<Step> steps;
  // For messages: the statement that it is for, where a program has several, and the indices that
  // have another name in its nest than the one written.
  std::string statement = {};
  std::map<std::string, std::string> renamed = {};
  bool operator==(const Schedule&) const = default;
};

// Steps separated by ';' or line ends; '#' starts a comment. UserError with a caret where the text
// is wrong, names no rewrite or gives a rewrite what it does not take.
Schedule parse_schedule(std::string_view text);
// Text that parses back: "split(k, 64, k0, k1); reorder(i, k0, j, k1)".
std::string to_string(const Step& step);
std::string to_string(const Schedule& schedule);

// Raises a UserError that points at a step of the schedule and says why it is refused.
[[noreturn]] void refuse_step(const Schedule& schedule, size_t at, const std::string& why);

// Takes the nest through the steps in order, whatever statement they name, and verifies it after
// each. UserError with the schedule, a caret under the step that is refused and why. Remarks on
// legal steps are added to `remarks`.
nest::Nest apply(const Schedule& schedule, const nest::Nest& nest, Remarks* remarks = nullptr);

}  // namespace tulle::schedule
