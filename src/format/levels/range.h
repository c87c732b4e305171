// Slots as in a dense level. A slot whose coordinate, combined with the coordinate above, lies
// outside the tensor holds no entry. The level stores nothing.
#pragma once

#include "format/levels/dense.h"

namespace tulle {

class RangeLayout : public DenseLayout {};

}  // namespace tulle
