// Joins names, for messages and texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tulle {

// "i, j, k"
inline std::string joined(const std::vector<std::string>& names, std::string_view between = ", ") {
  std::string text;
  for (const std::string& name : names) {
    if (&name != &names.front()) text += between;
    text += name;
  }
  return text;
}

}  // namespace tulle
