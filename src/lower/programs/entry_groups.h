// Groups of entries that selectors count together, as ranges of places in an order of the entries.
#pragma once

#include <map>
#include <utility>

#include "lower/programs/entry_program.h"

namespace tulle::lower {

// Entries of one window of rows, one column range and, if `width` is not 0, this number of columns.
struct Grouping {
  int64_t height = 1, ranges = 1, width = 0;
  auto operator<=>(const Grouping&) const = default;
};

// Places in the order of a height, group by group: those of group g are [begins[g], begins[g + 1]),
// and number[place + 1] - 1 is the group of a place.
struct Groups {
  loop::Buffer number, begins;

  // The places [first, second) of the group of a place.
  std::pair<loop::Expr, loop::Expr> around(Emitter& out, const loop::Expr& place) const;
};

// Keeps a reference to the program.
class EntryGroups {
 public:
  explicit EntryGroups(EntryProgram& entries) : entries_(entries) {}

  // The groups, numbered by kernels that are appended once.
  const Groups& of(const Grouping& wanted);

 private:
  void mark(const Grouping& wanted, const Groups& groups);
  void begin(const Groups& groups);
  // Whether two entries are of different groups.
  loop::Expr are_apart(const Grouping& grouping, const loop::Expr& one,
                       const loop::Expr& other) const;

  EntryProgram& entries_;
  std::map<Grouping, Groups> groups_;
};

}  // namespace tulle::lower
