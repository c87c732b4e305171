// The table of rewrites: the name of each, its arguments in text and the function that applies it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schedule/schedule.h"
#include "support/name_list.h"

namespace tulle::schedule {

// The role of an argument in its rewrite.
enum class ArgumentRole : uint8_t {
  Loop,          // the name of a loop, or a list of names
  NewLoop,       // the name of a loop that the step makes
  NewWorkspace,  // the name of a workspace that the step makes
  Number,
  Word,  // one of a few words that the rewrite defines
  Operand,
  Result,
  Statement,  // the result of another statement
  Format,     // the text of a format
};

// The range of a numeric argument.
struct Range {
  int64_t least = 1, most = INT32_MAX;
  std::string_view of = "";  // the unit that it counts, for messages
  bool powers_of_two = false;
  bool zero = false;  // also allows 0, which means all
};

// An argument as written: a name, a number or (names). Monostate if it is omitted.
using ArgumentValue = std::variant<std::monostate, std::string, int64_t, NameList>;

// An argument of a rewrite: its syntax, and accessors of the field that stores it.
struct Parameter {
  ArgumentRole role;
  std::function<ArgumentValue(const Rewrite&)> get;
  std::function<void(Rewrite&, const ArgumentValue&)> set;
  size_t least = 1, most = 1;     // the number of times it may be written
  bool takes_list = false;        // accepts (j, k) as well as k
  Range range = {};               // for numbers
  NameList words = {};            // the choices for ArgumentRole::Word
  std::string_view keyword = {};  // of by=nnz; empty: a positional argument
};

// The entry of a rewrite in the table.
struct RewriteKind {
  std::string_view name;
  std::string_view usage;             // for messages
  std::vector<Parameter> parameters;  // in the order of the text
  size_t alternative;                 // the index in the variant Rewrite
  std::function<Rewrite()> make;      // a rewrite with unset arguments
  std::function<Result<nest::Nest>(const nest::Nest&, const Rewrite&, Remarks*)> apply;

  // The parameter of the positional argument with this number. Past the end: the last parameter.
  const Parameter& parameter(size_t at) const;
  const Parameter* with_keyword(std::string_view keyword) const;  // null if there is none
};

const RewriteKind& kind_of(const Rewrite& rewrite);
// Null if no rewrite has that name.
const RewriteKind* find_rewrite(std::string_view name);
// The names of all rewrites, for messages.
std::string rewrite_names();

// A name in a step: of a loop, a workspace, a tensor or a statement.
struct NameInStep {
  std::string name;
  ArgumentRole role;
  Span place;
};
std::vector<NameInStep> names_of(const Step& step);

// Replaces each name in the rewrite by the result of `rename`. Does not change the step's
// statement.
Rewrite renamed(
    Rewrite rewrite,
    const std::function<std::string(const std::string& name, ArgumentRole role)>& rename);

inline bool is_tensor(ArgumentRole role) {
  return role == ArgumentRole::Operand || role == ArgumentRole::Result ||
         role == ArgumentRole::Statement;
}

// Refuses if a number is out of range or a name is used twice. Does not need a nest.
Result<> check_arguments(const Rewrite& rewrite);

}  // namespace tulle::schedule
