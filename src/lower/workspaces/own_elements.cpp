// Finds the loops that fill a workspace.
#include "lower/workspaces/own_elements.h"

#include <algorithm>

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

bool OwnElements::is_spread(const std::string& index) const {
  const nest::Forall* loop = nest::find_loop(where.producer, index);
  return loop && loop->tag.is_within_block();
}

bool OwnElements::is_spread() const {
  return std::all_of(indices.begin(), indices.end(),
                     [&](const std::string& index) { return is_spread(index); });
}

Expr OwnElements::extent(const KernelContext& kernel, const std::string& index) const {
  return is_spread(index) ? IntConst::make(1) : kernel.coordinates.extent(index);
}

Expr OwnElements::count(const KernelContext& kernel) const {
  Expr size = IntConst::make(1);
  for (const std::string& index : indices) size = size * extent(kernel, index);
  return size;
}

loop::Stmt OwnElements::for_each(KernelContext& kernel,
                                 const std::function<loop::Stmt(const Expr& at)>& body) const {
  std::vector<std::string> variables;
  Expr at = IntConst::make(0);
  for (const std::string& index : indices) {
    variables.push_back(kernel.names.fresh(index));
    at = at * extent(kernel, index) + loop::Var::make(variables.back());
  }
  loop::Stmt all = body(at);
  for (size_t d = indices.size(); d-- > 0;) {
    const nest::Forall* filling = nest::find_loop(where.producer, indices[d]);
    loop::ForKind kind = loop::ForKind::Serial;
    int factor = 0;
    if (filling && filling->tag.kind == nest::LoopTag::Kind::Vector) {
      kind = loop::ForKind::Vector;
      factor = filling->tag.factor;
    } else if (filling && filling->tag.kind == nest::LoopTag::Kind::Unrolled &&
               filling->tag.factor == 0) {
      kind = loop::ForKind::Unrolled;
    }
    all = loop::For::make(variables[d], IntConst::make(0), extent(kernel, indices[d]), all, kind,
                          factor);
  }
  return all;
}

}  // namespace tulle::lower
