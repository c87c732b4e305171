// Makes names that nothing else in a kernel uses.
#pragma once

#include <map>
#include <string>

#include "loop/host.h"

namespace tulle::loop {

class FreshNames {
 public:
  // For a kernel that is being built: no name is taken. Numbered names are wish_1, wish_2, ...
  FreshNames() = default;
  // For a kernel that is being rewritten: its names are taken. Numbered names are wish2, wish3,
  // ..., so that a reader can tell them from the names of the first kind.
  explicit FreshNames(const Kernel& kernel);

  // `wish` if no such name is taken, else the first numbered name that is free. The result is taken
  // from then on.
  std::string fresh(const std::string& wish);

 private:
  std::string separator_ = "_";
  int first_number_ = 1;
  std::map<std::string, int> next_numbers_;  // by name that is taken
};

}  // namespace tulle::loop
