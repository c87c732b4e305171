// The table of rewrites: the name of each, what it takes and what it does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"

namespace tulle::schedule {

// What an argument is to its rewrite.
enum class Role : uint8_t {
  Loop,          // the name of a loop
  Loops,         // one such name or (names)
  NewLoop,       // the name of one that the step makes
  NewWorkspace,  // the same
  Number,
  Word,  // the rewrite's own
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

// What a rewrite takes in one place: a number of a range, or something else.
struct Parameter {
  Parameter(Role r) : role(r) {}                               // NOLINT: conversion from every role
  Parameter(const Range& r) : role(Role::Number), range(r) {}  // NOLINT: and from every range

  Role role;
  Range range = {};
};

// The arguments of a step that check_step has passed.
class Arguments {
 public:
  explicit Arguments(const Step& step);

  size_t count() const { return positional_.size(); }  // keywords not counted
  const std::string& name(size_t at) const;
  int64_t integer(size_t at) const;
  Names names(size_t at) const;       // (i, k), or one name
  Names names_from(size_t at) const;  // all that follow, one name each
  // Whether the keyword is given with this word.
  bool has(std::string_view keyword, std::string_view word) const;

 private:
  const Step& step_;
  std::vector<const Argument*> positional_;
};

struct Rewrite {
  std::string_view name;
  std::string_view usage;             // for messages
  std::vector<Parameter> parameters;  // in order; the last one is that of all further arguments
  size_t least, most;                 // arguments, keywords not counted
  Names words;                        // of which an argument in the role of one is one
  std::string_view keyword;           // that it takes, if any
  Names choices;                      // for the keyword
  nest::Nest (*apply)(const nest::Nest& nest, const Arguments& arguments, Remarks* remarks);

  const Parameter& parameter(size_t at) const {
    return parameters[at < parameters.size() ? at : parameters.size() - 1];
  }
  Role role(size_t at) const { return parameter(at).role; }
};

// UserError, pointing at the argument where there is one, if the step's rewrite does not exist or
// does not take these arguments, whatever nest it is for.
void check_step(const Step& step);

// Null if no rewrite has that name.
const Rewrite* find_rewrite(std::string_view name);
// All of them, for messages.
std::string rewrite_names();

}  // namespace tulle::schedule
