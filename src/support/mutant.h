// Seeded faults of the compiler: tests switch one on at a time and random testing must find it.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace tulle {

// The fault that is switched on, none if empty. It starts as the environment's TULLE_MUTANT.
inline std::string& active_mutant() {
  static std::string name = [] {
    const char* value = std::getenv("TULLE_MUTANT");
    return std::string(value ? value : "");
  }();
  return name;
}

// Switches to another fault; "" is the right compiler. Only while nothing is being compiled.
inline void set_mutant(std::string name) { active_mutant() = std::move(name); }

// Whether this fault is switched on.
inline bool mutant(std::string_view name) { return active_mutant() == name; }

}  // namespace tulle
