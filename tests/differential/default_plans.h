// Small cases that cover every plan the rules choose for a GPU.
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

// At least one of them follows each rule of plan/gpu/rules.h.
const std::vector<Planned>& default_plans();

// The composite formats that some of them build.
const std::vector<const char*>& built_formats();

}  // namespace tulle::differential
