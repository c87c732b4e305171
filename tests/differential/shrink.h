// Making a failing case small.
#pragma once

#include <functional>

#include "differential/differential.h"

namespace tulle::differential {

// The smallest case found, by dropping and simplifying one thing after the other, of which `fails`
// still holds.
Case shrink(Case test, const std::function<bool(const Case&)>& fails);

}  // namespace tulle::differential
