// Slots of a segment that are unused: the last ones, marked in place of a coordinate.
#pragma once

#include "lower/emitter.h"

namespace tulle::lower {

// Where the unused slots among [begin, end) start.
loop::Expr emit_used_end(Emitter& out, const loop::Buffer& crd, const loop::Expr& begin,
                         const loop::Expr& end);
// The same for this number of slots.
loop::Expr emit_used_end(Emitter& out, const loop::Buffer& crd, const loop::Expr& begin,
                         int64_t slots);
// Marks the slots of [begin, end) as unused.
void mark_unused(Emitter& out, const loop::Buffer& crd, const loop::Expr& begin,
                 const loop::Expr& end);

}  // namespace tulle::lower
