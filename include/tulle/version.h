// The version of the loaded library.
#pragma once

#include "tulle/export.h"

namespace tulle {

// "major.minor.patch"
TULLE_API const char* version();

}  // namespace tulle
