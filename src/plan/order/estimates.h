// Estimates of sizes: the extents of indices and the entries of tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/request.h"

namespace tulle::plan {

class Estimates {
 public:
  // Uses guesses only.
  Estimates() = default;
  // Uses the statistics of the operands.
  explicit Estimates(const Request& request);

  double extent(const std::string& index) const;
  // The number of entries of a tensor with these indices. Remembers guesses.
  double count(const std::string& tensor, const std::vector<std::string>& indices);

  // Gives `index` the extent of `same`.
  void add_index(const std::string& index, const std::string& same);
  void set_extent(const std::string& index, double extent) { extents_[index] = extent; }
  void set_count(const std::string& tensor, double count) { counts_[tensor] = count; }

 private:
  std::map<std::string, double> counts_, extents_;
};

}  // namespace tulle::plan
