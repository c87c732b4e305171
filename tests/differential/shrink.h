// Shrinks a failing case.
#pragma once

#include <functional>

#include "differential/differential.h"

namespace tulle::differential {

// The smallest case for which `fails` still holds. Drops and simplifies one thing at a time.
Case shrink(Case test, const std::function<bool(const Case&)>& fails);

}  // namespace tulle::differential
