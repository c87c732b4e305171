// Visits dealt pieces. Chunk c visits every `dealt`-th piece of part c / dealt, starting with
// number c % dealt.
#include "lower/loops/dealt_pieces.h"

#include "lower/loops/stored_rows.h"
#include "lower/result/assignments.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;
using loop::Load;

bool DealtPiecesLoop::applies(const LoopSite& site) const {
  return site.variable().origin == nest::Variable::Origin::ChunkRow && site.variable().dealt > 0;
}

void DealtPiecesLoop::lower(const LoopSite& site, Emitter& out) const {
  KernelContext& kernel = site.parts.kernel;
  const nest::Variable& variable = site.variable();
  const Expr chunk = chunk_around(kernel, variable, site.scope);
  const StoredRows stored = stored_rows(kernel, variable);
  const int64_t parts = variable.parts / variable.dealt;
  const DealtPieces pieces = dealt_pieces_of(stored, variable.factor, parts);
  derive(kernel.facts, derive_dealt_pieces(stored, variable.factor, parts, kernel.options()));
  const Expr dealt = IntConst::make(variable.dealt);
  const Expr part = out.let("part", Binary::make(BinaryOp::Div, chunk, dealt));
  const Expr first =
      out.let("first", Load::make(pieces.parts, part) + Binary::make(BinaryOp::Mod, chunk, dealt));
  const Expr last = out.let("last", Load::make(pieces.parts, part + 1));

  const std::string name = kernel.names.fresh("piece");
  const Expr piece = loop::Var::make(name);
  Emitter body = out.nested();
  const Expr coded = body.let("coded", position_of(pieces.rows, piece));
  const Expr is_shared = body.let("is_shared", coded < IntConst::make(0));
  const Expr row =
      body.let(variable.parent, loop::Select::make(is_shared, IntConst::make(-1) - coded, coded));
  const Positions run = {body.let("p", position_of(pieces.begins, piece)),
                         body.let("p_end", position_of(pieces.begins, piece + 1))};
  KernelScope inner = site.scope;
  inner.entries.of_chunk[variable.tensor] = kernel.code(variable.tensor).levels[1]->used(body, run);
  inner.row.is_shared = is_shared;
  if (adds_up_rows(kernel)) {
    kernel.facts.shared_rows = {stored.positions, kernel.coordinates.chunk_length(variable),
                                pieces.shared, pieces.shared_count, pieces.most_shared};
  }
  site.parts.entering.enter({site.loop, row}, inner, body);
  out.add(
      loop::For::make(name, first, last, body.take(), loop::ForKind::Serial, 0, variable.dealt));
}

}  // namespace tulle::lower
