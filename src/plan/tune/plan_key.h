// The key of a tuned plan: equal for programs that differ only in names, and for operands of
// similar sizes.
#pragma once

#include <bit>
#include <map>
#include <string>
#include <vector>

#include "plan/request.h"

namespace tulle::plan {

// The size in powers of four. Operands whose sizes and entries have equal magnitudes are planned
// alike.
inline uint64_t magnitude(int64_t value) {
  return static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(value)) / 2);
}

// The schedule with exchanged names. A name that `names` lacks was made by a step; it gets
// underscores where its name is taken.
schedule::Schedule exchanged(schedule::Schedule schedule,
                             const std::map<std::string, std::string>& names);

// The names of the tensors and indices of a program, numbered in the order of their first use:
// T0[x0,x1] = sum(x2, T1[x0,x2] * T2[x2,x1]).
class NumberedNames {
 public:
  explicit NumberedNames(const UniqueProgram& program);

  // False where one name is a tensor's and an index's: such a program has no key.
  bool is_clear() const { return is_clear_; }
  const std::string& statements() const { return statements_; }
  std::string of(const std::string& name) const { return numbered_.at(name); }

  // The schedules of the statements as one text in these names; and back, "" for none. UserError
  // where the text is no schedule or names a statement that is not there.
  std::string numbered(const std::vector<schedule::Schedule>& schedules) const;
  std::vector<schedule::Schedule> named(const std::string& text) const;

 private:
  void add(const std::string& name, const std::string& number);

  const UniqueProgram& program_;
  bool is_clear_ = true;
  std::string statements_;
  std::map<std::string, std::string> numbered_, named_;
};

struct PlanKey {
  std::string statements;  // of NumberedNames
  std::string tensors;     // types and formats, a line for each
  std::string operands;    // the magnitudes of extents and entries, and locality
};

// Of a request whose statistics are known.
PlanKey plan_key(const Request& request, const NumberedNames& names);

}  // namespace tulle::plan
