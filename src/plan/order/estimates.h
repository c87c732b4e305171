// Estimates of sizes: the extents of indices and the entries of tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/request.h"

namespace tulle::plan {

class Estimates {
 public:
  // Guesses alone.
  Estimates() = default;
  // From the statistics of the operands.
  explicit Estimates(const Request& request);

  double extent(const std::string& index) const;
  // The number of entries of a tensor that is accessed under these indices. A guess is remembered.
  double count(const std::string& tensor, const std::vector<std::string>& indices);

  // Another index of the same extent.
  void add_index(const std::string& index, const std::string& same);
  void set_count(const std::string& tensor, double count) { counts_[tensor] = count; }

 private:
  std::map<std::string, double> counts_, extents_;
};

}  // namespace tulle::plan
