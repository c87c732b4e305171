// The version, handed in by the build from pyproject.toml.
#include "tulle/version.h"

namespace tulle {

const char* version() { return TULLE_VERSION; }

}  // namespace tulle
