// Groups of entries that selectors count together, as ranges of places in an order of the entries.
#pragma once

#include <map>
#include <utility>

#include "lower/programs/entry_program.h"

namespace tulle::lower {

// Entries in one window of rows and one column range. If `width` is not 0, also in one block of
// that many columns.
struct Grouping {
  int64_t height = 1, ranges = 1, width = 0;
  auto operator<=>(const Grouping&) const = default;
};

// Places in the order of a height. Group g has the places [begins[g], begins[g + 1]). The group of
// a place is number[place + 1] - 1.
struct Groups {
  loop::Buffer number, begins;

  // The range [first, second) of places in the group of a place.
  std::pair<loop::Expr, loop::Expr> around(Emitter& out, const loop::Expr& place) const;
};

// Keeps a reference to the program.
class EntryGroups {
 public:
  explicit EntryGroups(EntryProgram& entries) : entries_(entries) {}

  // The groups. Appends the kernels that number them, once.
  const Groups& of(const Grouping& wanted);

 private:
  void mark(const Grouping& wanted, const Groups& groups);
  void begin(const Groups& groups);
  // Whether two entries are in different groups.
  loop::Expr are_apart(const Grouping& grouping, const loop::Expr& one,
                       const loop::Expr& other) const;

  EntryProgram& entries_;
  std::map<Grouping, Groups> groups_;
};

}  // namespace tulle::lower
