// The table of rewrites: the name of each, what it takes and what it does.
#pragma once

#include <string>
#include <string_view>

#include "schedule/schedule.h"

namespace tulle::schedule {

// The arguments of a step as its rewrite wants them; UserError where they are of another kind.
class Arguments {
 public:
  explicit Arguments(const Step& step);

  size_t count() const { return positional_.size(); }  // keywords not counted
  std::string name(size_t at) const;
  int64_t integer(size_t at) const;
  Names names(size_t at) const;       // (i, k), or one name
  Names names_from(size_t at) const;  // all that follow, one name each
  // The place of the keyword's value in `choices`, which are words; 0 where it is not given.
  size_t choice(std::string_view keyword, const Names& choices) const;
  // Whether the word stands at this place; no other may.
  bool has_word(size_t at, std::string_view word) const;

 private:
  const Step& step_;
  std::vector<const Argument*> positional_;
};

struct Rewrite {
  std::string_view name;
  std::string_view usage;    // for messages
  size_t least, most;        // arguments, keywords not counted
  std::string_view keyword;  // that it takes, if any
  nest::Nest (*apply)(const nest::Nest& nest, const Arguments& arguments, Remarks* remarks);
};

// Null if no rewrite has that name.
const Rewrite* find_rewrite(std::string_view name);
// All of them, for messages.
std::string rewrite_names();

}  // namespace tulle::schedule
