// A kind of loop as code: where a loop of a nest becomes one of this kind, and what it becomes.
//
// Nothing else in lowering knows what kinds there are: a new one is one class in this folder and
// one line in the table (loop_table.cpp).
#pragma once

#include "lower/loops/loop_site.h"

namespace tulle::lower {

class LoopKind {
 public:
  virtual ~LoopKind() = default;

  // Whether the loop becomes one of this kind, where no kind before it in the table applies. Emits
  // nothing.
  virtual bool applies(const LoopSite& site) const = 0;
  virtual void lower(const LoopSite& site, Emitter& out) const = 0;
};

}  // namespace tulle::lower
