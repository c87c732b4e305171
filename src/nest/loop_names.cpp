// Names of loops.
#include "nest/loop_names.h"

#include "support/check.h"

namespace tulle::nest {

std::string outer_loop(const std::string& index) { return index + ".outer"; }
std::string inner_loop(const std::string& index) { return index + ".inner"; }

std::string difference_loop(const std::string& index, const std::string& other) {
  return concat(index, ".minus.", other);
}

std::map<std::string, std::string> with_loops_of_formats(
    const std::map<std::string, std::string>& indices) {
  std::map<std::string, std::string> loops = indices;
  for (const auto& [index, name] : indices) {
    loops.try_emplace(outer_loop(index), outer_loop(name));
    loops.try_emplace(inner_loop(index), inner_loop(name));
    for (const auto& [other, other_name] : indices) {
      if (other == index) continue;
      loops.try_emplace(difference_loop(index, other), difference_loop(name, other_name));
    }
  }
  return loops;
}

}  // namespace tulle::nest
