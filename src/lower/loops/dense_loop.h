// A loop that visits every coordinate, with operands that store coordinates walked along.
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

// The coordinates that such a loop visits.
struct VisitedRange {
  LoopBounds bounds;
  bool begins_inside = false;  // perhaps: walkers look for their first entry
};
VisitedRange visited_range(const LoopSite& site, Emitter& out);

// Such a loop without its head.
struct CountedBody {
  std::string counter;
  LoopBounds bounds;
  loop::Stmt body;
};
CountedBody lower_counted(const LoopSite& site, const VisitedRange& range, Emitter& out);
// The loop as its tag asks for, as far as it can be that.
loop::Stmt counting_loop(const LoopSite& site, CountedBody counted);

// Lowers the body at a coordinate: a case for each point of the lattice of the walked accesses.
void visit_coordinate(const LoopSite& site, const loop::Expr& coordinate,
                      const std::vector<Walker>& walkers, KernelScope scope, Emitter& out);

}  // namespace tulle::lower
