// The unused slots at the end of a segment, which have a mark instead of a coordinate.
#pragma once

#include "lower/emitter.h"

namespace tulle::lower {

// The first unused slot in [begin, end), or `end`.
loop::Expr emit_used_end(Emitter& out, const loop::Buffer& crd, const loop::Expr& begin,
                         const loop::Expr& end);
// The same for this number of slots.
loop::Expr emit_used_end(Emitter& out, const loop::Buffer& crd, const loop::Expr& begin,
                         int64_t slots);
// Marks the slots of [begin, end) as unused.
void mark_unused(Emitter& out, const loop::Buffer& crd, const loop::Expr& begin,
                 const loop::Expr& end);

}  // namespace tulle::lower
