// The code of a kind of loop: a test whether a nest's loop becomes this kind, and its lowering.
//
// Other code in lowering does not depend on the set of kinds. A new kind is one class in this
// folder and one line in the table (loop_table.cpp).
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

class LoopKind {
 public:
  virtual ~LoopKind() = default;

  // Whether the loop becomes this kind if no kind before it in the table applies. Emits nothing.
  virtual bool applies(const LoopSite& site) const = 0;
  virtual void lower(const LoopSite& site, Emitter& out) const = 0;
};

}  // namespace tulle::lower
