// The key of a tuned plan. Programs that differ only in names have equal keys, and so do operands
// of similar sizes.
#pragma once

#include <bit>
#include <map>
#include <string>
#include <vector>

#include "plan/request.h"

namespace tulle::plan {

// The size in powers of four. Plans do not depend on sizes within one magnitude.
inline uint64_t magnitude(int64_t value) {
  return static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(value)) / 2);
}

// The schedule with exchanged names. A name that `names` lacks comes from a step. It gets
// underscores if another name equals it.
schedule::Schedule exchanged(schedule::Schedule schedule,
                             const std::map<std::string, std::string>& names);

// Numbers the names of the tensors and indices in a program in the order of their first use:
// T0[x0,x1] = sum(x2, T1[x0,x2] * T2[x2,x1]).
class NumberedNames {
 public:
  explicit NumberedNames(const UniqueProgram& program);

  // False if a tensor and an index have the same name. Such a program has no key.
  bool is_clear() const { return is_clear_; }
  const std::string& statements() const { return statements_; }
  std::string of(const std::string& name) const { return numbered_.at(name); }

  // Converts the schedules of the statements to one text with these names, and back. "" stands for
  // no schedules. Throws a UserError if the text is no schedule or names an unknown statement.
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
  std::string statements;  // by NumberedNames
  std::string tensors;     // types and formats, one line each
  std::string operands;    // magnitudes of extents and entries, and localities
};

// The key of a request with statistics.
PlanKey plan_key(const Request& request, const NumberedNames& names);

}  // namespace tulle::plan
