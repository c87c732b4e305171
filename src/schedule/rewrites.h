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

// What an argument is to its rewrite.
enum class Role : uint8_t {
  Loop,          // the name of a loop, or a list of names
  NewLoop,       // the name of one that the step makes
  NewWorkspace,  // the same
  Number,
  Word,  // one of a few words that belong to the rewrite
  Operand,
  Result,
  Statement,  // the result of another
  Format,     // the text of one
};

// The numbers that an argument may be.
struct Range {
  int64_t least = 1, most = INT32_MAX;
  std::string_view of = "";  // what they count, for messages
  bool powers_of_two = false;
  bool zero = false;  // as well: all
};

// An argument as it is written: a name, a number or (names); nothing where it is left out.
using ArgumentValue = std::variant<std::monostate, std::string, int64_t, NameList>;

// An argument of a rewrite: what may be written for it, and the field that holds it.
struct Parameter {
  Role role;
  std::function<ArgumentValue(const Rewrite&)> get;
  std::function<void(Rewrite&, const ArgumentValue&)> set;
  size_t least = 1, most = 1;     // how often it is written
  bool takes_list = false;        // (j, k) as well as k
  Range range = {};               // of a number
  NameList words = {};            // of which a word is one
  std::string_view keyword = {};  // before it: by=nnz; empty: its place tells what it is
};

// A rewrite as text and messages know it.
struct RewriteKind {
  std::string_view name;
  std::string_view usage;             // for messages
  std::vector<Parameter> parameters;  // in the order in which they are written
  size_t alternative;                 // of the variant Rewrite
  std::function<Rewrite()> make;      // with arguments still to be set
  std::function<Result<nest::Nest>(const nest::Nest&, const Rewrite&, Remarks*)> apply;

  // Of the argument at this place, keywords not counted; past the end the last one.
  const Parameter& parameter(size_t at) const;
  const Parameter* with_keyword(std::string_view keyword) const;  // null if there is none
};

const RewriteKind& kind_of(const Rewrite& rewrite);
// Null if no rewrite has that name.
const RewriteKind* find_rewrite(std::string_view name);
// All of them, for messages.
std::string rewrite_names();

// A name in a step: of a loop, a workspace, a tensor or a statement.
struct NameInStep {
  std::string name;
  Role role;
  Span place;
};
std::vector<NameInStep> names_of(const Step& step);

// The rewrite with other names: `rename` is asked for each of them. The step's own statement stays.
Rewrite renamed(Rewrite rewrite,
                const std::function<std::string(const std::string& name, Role role)>& rename);

inline bool is_tensor(Role role) {
  return role == Role::Operand || role == Role::Result || role == Role::Statement;
}

// Refused if a number is out of range or a name is used twice, whatever nest the rewrite is for.
Result<> check_arguments(const Rewrite& rewrite);

}  // namespace tulle::schedule
