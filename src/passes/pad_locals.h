// Pads local arrays so that the tail of a vector loop can use whole vectors.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "loop/stmt.h"

namespace tulle::passes {

// A masked access would keep an array out of registers. If a loop ends at the end of the array, the
// array grows instead, and the lanes past the end operate on the padding.
class LocalSizes {
 public:
  explicit LocalSizes(const loop::Stmt& kernel_body);

  // Whether a vector of `lanes` lanes for the `rest` iterations after the first `done` may access
  // local arrays without a mask: every access to a local array must end with the array.
  bool have_room(const loop::For& loop, int64_t done, int64_t rest, int lanes) const;

  // Records that the local arrays of the loop need `missing` more elements and returns their names.
  // Must be called for one loop after the other.
  std::set<std::string> pad(const loop::For& loop, int64_t missing);

  // The kernel with the padded arrays. Padding that no loop writes is 0.
  loop::Stmt grow(const loop::Stmt& kernel_body) const;

 private:
  std::map<std::string, int64_t> sizes_;  // -1 if allocations with the same name differ
  std::map<std::string, int64_t> padding_;
  std::map<std::string, int64_t> filled_;  // padding that the first loop only writes
};

}  // namespace tulle::passes
