// Every coordinate has a slot, parent * extent + coordinate, as in a dense level; those at which
// the coordinate above leads out of the tensor hold no entry. Nothing is stored.
#pragma once

#include "format/levels/dense.h"

namespace tulle {

class RangeLayout : public DenseLayout {};

}  // namespace tulle
