// The version of the library that is loaded.
#pragma once

#include "tulle/export.h"

namespace tulle {

// "major.minor.patch"
TULLE_API const char* version();

}  // namespace tulle
