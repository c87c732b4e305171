// Small cases of every plan that is chosen for a GPU where the caller gives no schedule.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "differential/differential.h"

namespace tulle::differential {

struct Planned {
  std::string name;
  Case test;
};
inline void PrintTo(const Planned& planned, std::ostream* out) { *out << planned.name; }

// Each rule of plan/gpu/rules.h is followed by one of them.
const std::vector<Planned>& default_plans();

// The composite formats that some of them build.
const std::vector<const char*>& built_formats();

}  // namespace tulle::differential
