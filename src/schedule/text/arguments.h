// The arguments of a step as text has them.
#pragma once

#include <string>
#include <vector>

#include "schedule/rewrites.h"
#include "support/result.h"
#include "support/source.h"

namespace tulle::schedule {

// A name, an integer or (names), perhaps given by keyword: k, 64, (i, k), by=nnz.
struct Argument {
  std::string keyword;
  ArgumentValue value;
  Span place = {};
  std::vector<Span> name_places = {};  // of (names)
};

// What is wrong with arguments, and where; without a place it is the step as a whole.
struct WrongArgument {
  Span place;
  std::string why;
};
Result<void, WrongArgument> check_arguments(const RewriteKind& kind,
                                            const std::vector<Argument>& arguments);

// The rewrite with arguments that check_arguments passes, and back.
Rewrite rewrite_of(const RewriteKind& kind, const std::vector<Argument>& arguments);
std::vector<Argument> arguments_of(const Rewrite& rewrite);

// The places of the names, in the order of names_of.
std::vector<Span> places_of_names(const RewriteKind& kind, const std::vector<Argument>& arguments);

std::string to_string(const Argument& argument);

}  // namespace tulle::schedule
