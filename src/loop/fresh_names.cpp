// Counts the numbers that each name has used.
#include "loop/fresh_names.h"

#include "loop/used_names.h"
#include "support/check.h"

namespace tulle::loop {

FreshNames::FreshNames(const Kernel& kernel) : separator_(), first_number_(2) {
  for (const std::string& name : names_of(kernel)) next_numbers_.emplace(name, first_number_);
}

std::string FreshNames::fresh(const std::string& wish) {
  const auto [taken, is_free] = next_numbers_.emplace(wish, first_number_);
  if (is_free) return wish;
  for (;;) {
    std::string name = concat(wish, separator_, taken->second++);
    if (next_numbers_.emplace(name, first_number_).second) return name;
  }
}

}  // namespace tulle::loop
