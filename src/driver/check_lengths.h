// Checks the lengths of a caller's arrays against sizes and format.
#pragma once

#include "format/format.h"
#include "tulle/tulle.h"

namespace tulle {

// Throws UserError that names the tensor and the array if a length is wrong. Reads no element.
void check_lengths(const TensorSpec& spec, const Format& format, const TensorView& view);

}  // namespace tulle
