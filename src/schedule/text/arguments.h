// The arguments of a step in a text.
#pragma once

#include <string>
#include <vector>

#include "schedule/rewrites.h"
#include "support/result.h"
#include "support/source.h"

namespace tulle::schedule {

// A name, an integer or (names), perhaps after a keyword: k, 64, (i, k), by=nnz.
struct Argument {
  std::string keyword;
  ArgumentValue value;
  Span place = {};
  std::vector<Span> name_places = {};  // of (names)
};

// A wrong argument: the message and the place. Without a place, the whole step is wrong.
struct WrongArgument {
  Span place;
  std::string why;
};
Result<void, WrongArgument> check_arguments(const RewriteKind& kind,
                                            const std::vector<Argument>& arguments);

// Conversions between rewrites and arguments. The arguments must pass check_arguments.
Rewrite rewrite_of(const RewriteKind& kind, const std::vector<Argument>& arguments);
std::vector<Argument> arguments_of(const Rewrite& rewrite);

// The places of the names, in the order of names_of.
std::vector<Span> places_of_names(const RewriteKind& kind, const std::vector<Argument>& arguments);

std::string to_string(const Argument& argument);

}  // namespace tulle::schedule
