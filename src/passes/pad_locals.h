// Room behind local arrays, so that the rest of a vector loop may use whole vectors on them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "loop/stmt.h"

namespace tulle::passes {

// A masked access keeps an array out of registers. Where the rest of a loop ends with the array,
// the array is made longer instead and the lanes that do not exist work on the padding.
class LocalSizes {
 public:
  explicit LocalSizes(const loop::Stmt& kernel_body);

  // Whether a vector of `lanes` for the `rest` iterations after the first `done` may leave the
  // local arrays unmasked: none is used, or each only at places whose last is its end.
  bool have_room(const loop::For& loop, int64_t done, int64_t rest, int lanes) const;

  // Notes that the local arrays of the loop need `missing` elements more; returns their names. To
  // be called for one loop after the other.
  std::set<std::string> pad(const loop::For& loop, int64_t missing);

  // The kernel with the longer arrays; padding that no loop fills is 0.
  loop::Stmt grow(const loop::Stmt& kernel_body) const;

 private:
  std::map<std::string, int64_t> sizes_;  // -1 where allocations of one name differ
  std::map<std::string, int64_t> padding_;
  std::map<std::string, int64_t> filled_;  // padding that the first of the loops only writes
};

}  // namespace tulle::passes
