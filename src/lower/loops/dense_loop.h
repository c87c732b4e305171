// A loop that visits every coordinate and walks along operands that store coordinates.
#pragma once

#include <string>
#include <vector>

#include "lower/loops/loop_kind.h"
#include "lower/loops/walker.h"

namespace tulle::lower {

class DenseLoop : public LoopKind {
 public:
  bool applies(const LoopSite& site) const override;
  void lower(const LoopSite& site, Emitter& out) const override;
};

// The range of coordinates of such a loop.
struct VisitedRange {
  LoopBounds bounds;
  bool begins_inside = false;  // walkers must search for their first entry
};
VisitedRange visited_range(const LoopSite& site, Emitter& out);

// The parts of such a loop.
struct CountedBody {
  std::string counter;
  LoopBounds bounds;
  loop::Stmt body;
};
CountedBody lower_counted(const LoopSite& site, const VisitedRange& range, Emitter& out);
// The loop with the kind of its tag, if possible.
loop::Stmt counting_loop(const LoopSite& site, CountedBody counted);

// Lowers the body at a coordinate, with one case for each point of the walked accesses' lattice.
void visit_coordinate(const LoopSite& site, const loop::Expr& coordinate,
                      const std::vector<Walker>& walkers, KernelScope scope, Emitter& out);

}  // namespace tulle::lower
