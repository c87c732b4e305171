// The begin and end of a loop.
#pragma once

#include "loop/expr.h"

namespace tulle::lower {

struct LoopBounds {
  loop::Expr begin, end;
};

}  // namespace tulle::lower
