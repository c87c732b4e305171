// The results of a program, as callers see them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/extent_sources.h"
#include "driver/variant.h"

namespace tulle {

class ResultTensors {
 public:
  // `parts` must outlive the object. `pattern_owners`: for a result with the pattern of an operand,
  // the name of that operand.
  ResultTensors(const expr::ResolvedProgram& program, const OperandParts& parts,
                const ExtentSources& extents,
                const std::map<std::string, std::string>& pattern_owners);

  const std::vector<TensorSpec>& specs() const { return specs_; }

  // Checks the memory for positions: a sparse result has one for every coordinate of its leading
  // dense levels.
  void check_positions_fit(const std::vector<TensorView>& views) const;

  // Writes the results of a run. `found` and `handles` are the arrays that the run made.
  void collect(const std::vector<ResultLayout>& layouts, const std::vector<TensorView>& views,
               const std::vector<runtime::RunResult>& found, const std::vector<void*>& handles,
               std::vector<ResultTensor>& results) const;

 private:
  const OperandParts& parts_;
  std::vector<TensorSpec> specs_;
  std::vector<Format> formats_;
  std::vector<std::vector<OperandDimension>> sizes_from_;  // among the parts
};

}  // namespace tulle
