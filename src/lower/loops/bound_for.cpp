// Distributes iterations over lanes, warps and threads.
#include "lower/loops/bound_for.h"

#include <utility>

#include "nest/bound_loops.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

loop::ForKind kind_of(const nest::LoopTag& tag) {
  switch (tag.kind) {
    case nest::LoopTag::Kind::Vector:
      return loop::ForKind::Vector;
    case nest::LoopTag::Kind::Unrolled:
      return loop::ForKind::Unrolled;
    case nest::LoopTag::Kind::Block:
      return loop::ForKind::Block;
    case nest::LoopTag::Kind::Warp:
      return loop::ForKind::Warp;
    case nest::LoopTag::Kind::Lane:
      return loop::ForKind::Lane;
    case nest::LoopTag::Kind::Thread:
      return loop::ForKind::Thread;
    default:
      return loop::ForKind::Serial;
  }
}

BoundFor::BoundFor(KernelContext& kernel, const nest::Forall& l, std::string counter,
                   const ThreadPlace& place)
    : loop(l), name(std::move(counter)), around(place), inside(place) {
  using Kind = nest::LoopTag::Kind;
  inside.in_warp |= loop.tag.kind == Kind::Warp;
  if (loop.tag.kind == Kind::Warp) inside.warp = loop::Var::make(name);
  if (loop.tag.kind == Kind::Lane) {
    inside.lanes = nest::lanes_inside(kernel.nest, loop.var);
    if (!inside.lane)
      inside.lane = loop::Var::make(inside.lanes > 1 ? kernel.names.fresh("lane") : name);
  }
  inside.on_one_thread |=
      (loop.tag.kind == Kind::Lane && inside.lanes == 1) || loop.tag.kind == Kind::Thread;
}

// With groups of g lanes, lane l runs iteration l / g of the outer loop and l % g of the inner one.
loop::Stmt BoundFor::over(KernelContext& kernel, const Expr& end, loop::Stmt body) const {
  const bool lanes = loop.tag.kind == nest::LoopTag::Kind::Lane;
  if (lanes && around.lane) {
    const Expr number = Binary::make(BinaryOp::Mod, around.lane, IntConst::make(around.lanes));
    return loop::Block::make({loop::Let::make(name, number), std::move(body)});
  }
  if (lanes && !around.in_warp) {
    // After a merge all warps have the same value, so one warp stores it.
    return loop::For::make(
        kernel.names.fresh("warp"), IntConst::make(0), IntConst::make(1),
        loop::For::make(name, IntConst::make(0), end, std::move(body), loop::ForKind::Lane),
        loop::ForKind::Warp);
  }
  if (!lanes || inside.lanes == 1)
    return loop::For::make(name, IntConst::make(0), end, std::move(body), kind_of(loop.tag));
  const Expr number = Binary::make(BinaryOp::Div, inside.lane, IntConst::make(inside.lanes));
  return loop::For::make(inside.lane.as<loop::Var>()->name, IntConst::make(0), end * inside.lanes,
                         loop::Block::make({loop::Let::make(name, number), std::move(body)}),
                         loop::ForKind::Lane);
}

}  // namespace tulle::lower
