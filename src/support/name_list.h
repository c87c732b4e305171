// A list of names.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tulle {

using NameList = std::vector<std::string>;

inline bool contains(const NameList& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace tulle
