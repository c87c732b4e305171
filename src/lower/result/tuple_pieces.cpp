// The layout of tuple pieces in memory.
//
// A chunk has at most two pieces: of a row that began before it, and of a row that begins in it and
// ends in a later chunk. A thread keeps its part of a tuple at the same place in every piece.
#include "lower/result/tuple_pieces.h"

#include <algorithm>
#include <bit>

#include "nest/bound_loops.h"
#include "nest/merged_rows.h"
#include "nest/row_pieces.h"
#include "support/check.h"
#include "support/gpu_limits.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

bool TuplePieces::any() const { return nest::merged_pieces(kernel_.nest); }

bool TuplePieces::gathers(const nest::Where& where) const {
  return nest::merged_pieces(kernel_.nest) == &where;
}

// The number of threads with different parts of a tuple, and the number of this thread.
TuplePieces::Team TuplePieces::team_of(const nest::Where& where, const KernelScope& scope) const {
  if (!kernel_.is_bound() || scope.thread.on_one_thread) return {};
  if (scope.thread.lane) return {scope.thread.lanes, scope.thread.lane};
  Team team{1, loop::Var::make("lane")};
  for (const nest::Assign* assign : nest::assigns(where.producer)) {
    const auto& all = where.workspaces;
    if (std::find(all.begin(), all.end(), assign->tensor) == all.end()) continue;
    for (const std::string& index : assign->indices) {
      const nest::Forall* loop = nest::find_loop(where.producer, index);
      if (!loop || loop->tag.kind != nest::LoopTag::Kind::Lane) continue;
      const auto lanes = static_cast<uint64_t>(kernel_.nest.known_extent(index).value_or(1));
      const bool inner = nest::lanes_inside(kernel_.nest, index) == 1;
      team.size = std::max(team.size, inner ? static_cast<int64_t>(std::bit_ceil(lanes))
                                            : static_cast<int64_t>(kWarpSize));
    }
  }
  return team;
}

// Runs the body on the first `lanes` lanes of a warp, if no loop over lanes is around.
void TuplePieces::on_team(const Team& team, const KernelScope& scope, int64_t lanes, Emitter& out,
                          const std::function<void(const Expr&, Emitter&)>& body) {
  Emitter inside = out.nested();
  if (!team.lane || scope.thread.lane) {
    const Expr member =
        team.lane ? loop::Binary::make(loop::BinaryOp::Mod, team.lane, IntConst::make(team.size))
                  : IntConst::make(0);
    body(member, inside);
    for (loop::Stmt& stmt : inside.take_statements()) out.add(std::move(stmt));
    return;
  }
  // A block without warps is one thread.
  const std::string lane = kernel_.names.fresh("lane");
  body(loop::Binary::make(loop::BinaryOp::Mod, loop::Var::make(lane), IntConst::make(team.size)),
       inside);
  out.add(loop::For::make(lane, IntConst::make(0), IntConst::make(scope.thread.in_warp ? lanes : 1),
                          inside.take(),
                          scope.thread.in_warp ? loop::ForKind::Lane : loop::ForKind::Thread));
}

// The number of the piece of a row in chunk `chunk`.
Expr TuplePieces::piece_number(const Expr& chunk, const Expr& begins_here,
                               const KernelScope& scope) const {
  const std::string& row = nest::loop_over_pieces(kernel_.nest)->var;
  const nest::Variable& rows = kernel_.nest.variable(row);
  Expr chunks = kernel_.chunks;
  for (const auto& [name, variable] : kernel_.nest.variables) {
    if (variable.origin == nest::Variable::Origin::Chunk) chunks = kernel_.coordinates.extent(name);
  }
  Expr number = IntConst::make(0);
  for (const std::string& index : kernel_.result_indices) {
    const Expr coordinate = kernel_.coordinates.coordinate(index, scope.coordinates);
    if (index == rows.parent || index == row || !coordinate) continue;
    number = number * kernel_.coordinates.extent(index) + coordinate;
  }
  number = (number * chunks + chunk) * 2;
  if (mutant("row-pieces-share-a-place")) return number;
  return number + loop::Select::make(begins_here, IntConst::make(1), IntConst::make(0));
}

Expr TuplePieces::piece_count() const {
  if (nest::loop_over_merged_rows(kernel_.nest)) return kernel_.chunks * 2;
  const nest::Variable& rows = kernel_.nest.variable(nest::loop_over_pieces(kernel_.nest)->var);
  const nest::Where* where = nest::merged_pieces(kernel_.nest);
  Expr count = IntConst::make(2);
  for (const auto& [name, variable] : kernel_.nest.variables) {
    if (variable.origin == nest::Variable::Origin::Chunk)
      count = count * kernel_.coordinates.extent(name);
  }
  for (const std::string& index : kernel_.result_indices) {
    // Counts indices of loops outside, not the columns of the where.
    bool inside = index == rows.parent;
    for (const auto& [name, variable] : kernel_.nest.variables) {
      const std::vector<std::string> sources = kernel_.nest.sources(name);
      inside |= std::find(sources.begin(), sources.end(), index) != sources.end() &&
                nest::find_loop(where->consumer, name);
    }
    if (!inside) count = count * kernel_.coordinates.extent(index);
  }
  return count;
}

// The array with the pieces of a workspace, and the number of elements per thread.
TuplePieces::Pieces TuplePieces::pieces_of(const std::string& workspace, const Team& team) {
  const TensorCode& target = kernel_.tensors.at(workspace);
  const DType type = kernel_.nest.tensor(workspace).type.type;
  const Expr elements = target.scalar ? Expr(IntConst::make(1)) : target.size;
  const Pieces pieces{
      loop::make_buffer(concat(kernel_.result, ".pieces.", workspace), type, loop::Space::Global),
      elements};
  const bool known = std::any_of(arrays_.begin(), arrays_.end(), [&](const auto& one) {
    return one.first->name == pieces.values->name;
  });
  if (!known) arrays_.emplace_back(pieces.values, piece_count() * (elements * team.size));
  return pieces;
}

void TuplePieces::store(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  const Team team = team_of(where, scope);
  const Expr number = out.let("piece", piece_number(scope.row.chunk, scope.row.begins_here, scope));
  on_team(team, scope, team.size, out, [&](const Expr& member, Emitter& body) {
    for (const std::string& name : where.workspaces) {
      const Pieces pieces = pieces_of(name, team);
      kernel_.for_elements(
          name, body, [&](const Expr& element, const Expr& value, Emitter& inside) {
            inside.store(pieces.values, (number * pieces.elements + element) * team.size + member,
                         value);
          });
    }
  });
}

void TuplePieces::merge(const nest::Where& where, const KernelScope& scope, Emitter& out) {
  const Team team = team_of(where, scope);
  const std::string counter = kernel_.names.fresh("other");
  const Expr other = loop::Var::make(counter);
  Emitter body = out.nested();
  const Expr number = body.let("piece", piece_number(other, other == scope.row.chunk, scope));
  on_team(team, scope, kWarpSize, body, [&](const Expr& member, Emitter& inside) {
    std::map<std::string, Lead> leads;
    for (const std::string& name : where.workspaces) {
      const Pieces pieces = pieces_of(name, team);
      const nest::Monoid monoid = *nest::accumulation_of(where.producer, name);
      TensorCode& target = kernel_.tensors.at(name);
      kernel_.for_elements(name, inside, [&](const Expr& element, const Expr& old, Emitter& one) {
        const Expr term = one.let(
            "term", loop::Load::make(pieces.values,
                                     (number * pieces.elements + element) * team.size + member));
        Expr value;
        if (nest::has_lead(monoid)) {
          value = follow(leads.at(kernel_.nest.tensor(name).lead), monoid, old, term);
        } else if (kernel_.nest.leads(name)) {
          leads[name] = lead_with(one, monoid, old, term);
          value = leads[name].next;
        } else {
          value = combine(monoid, old, term);
        }
        if (target.scalar) return one.assign(target.scalar, value);
        one.store(target.values, target.base ? target.base + element : element, value);
      });
    }
  });
  out.add(loop::For::make(counter, scope.row.chunk, scope.row.last_chunk + 1, body.take()));
}

}  // namespace tulle::lower
