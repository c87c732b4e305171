// The version, which the build reads from pyproject.toml.
#include "tulle/version.h"

namespace tulle {

const char* version() { return TULLE_VERSION; }

}  // namespace tulle
