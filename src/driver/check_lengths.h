// The lengths of a caller's arrays against what sizes and format ask for.
#pragma once

#include "format/format.h"
#include "tulle/tulle.h"

namespace tulle {

// UserError that names the tensor and the array if a length does not fit; looks at no element.
void check_lengths(const TensorSpec& spec, const Format& format, const TensorView& view);

}  // namespace tulle
