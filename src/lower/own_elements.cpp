// Finding the loops that fill a workspace.
#include "lower/own_elements.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

bool is_spread(const nest::Where& where, const std::string& index) {
  const nest::Forall* loop = nest::find_loop(where.producer, index);
  return loop && loop->tag.is_within_block();
}

Expr extent_of_own(const KernelContext& kernel, const nest::Where& where,
                   const std::string& index) {
  return is_spread(where, index) ? IntConst::make(1) : kernel.coordinates.extent(index);
}

loop::Stmt for_own_elements(KernelContext& kernel, const nest::Where& where,
                            const std::vector<std::string>& indices,
                            const std::function<loop::Stmt(const Expr& at)>& body) {
  std::vector<std::string> variables;
  Expr at = IntConst::make(0);
  for (const std::string& index : indices) {
    variables.push_back(kernel.names.fresh(index));
    at = at * extent_of_own(kernel, where, index) + loop::Var::make(variables.back());
  }
  loop::Stmt all = body(at);
  for (size_t d = indices.size(); d-- > 0;) {
    const nest::Forall* filling = nest::find_loop(where.producer, indices[d]);
    loop::LoopKind kind = loop::LoopKind::Serial;
    int factor = 0;
    if (filling && filling->tag.kind == nest::LoopTag::Kind::Vector) {
      kind = loop::LoopKind::Vector;
      factor = filling->tag.factor;
    } else if (filling && filling->tag.kind == nest::LoopTag::Kind::Unrolled &&
               filling->tag.factor == 0) {
      kind = loop::LoopKind::Unrolled;
    }
    all = loop::For::make(variables[d], IntConst::make(0), extent_of_own(kernel, where, indices[d]),
                          all, kind, factor);
  }
  return all;
}

}  // namespace tulle::lower
