// The extents of the indices of a program, read from the operands of a call.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "composite/operand_parts.h"
#include "plan/rewrite/unique_indices.h"
#include "tulle/tulle.h"

namespace tulle {

// Says which dimensions of which operands give the extent of each index.
class ExtentSources {
 public:
  // The arguments must outlive the object. `ones` are dimensions of size 1. Throws UserError if an
  // operand is declared to have the structure of another one of another format.
  ExtentSources(const plan::UniqueProgram& program, const OperandParts& parts,
                const std::vector<OperandDimension>& ones);

  // The indices of the whole program, in the order of the extents.
  const std::vector<std::string>& indices() const { return indices_; }
  // The first dimension that gives the extent of this index.
  OperandDimension first_source(const std::string& index) const;

  // Writes the extents for these operands to `extents`. Throws UserError if a length, a structure
  // or a size does not fit.
  void read(const std::vector<TensorView>& views, std::vector<int64_t>& extents) const;

 private:
  void check_structures(const std::vector<TensorView>& views) const;
  void check_ones(const std::vector<TensorView>& views) const;
  [[noreturn]] void fail_extents(const std::vector<TensorView>& views) const;

  const plan::UniqueProgram& program_;
  const OperandParts& parts_;
  const std::vector<OperandDimension>& ones_;
  std::vector<std::string> indices_;
  std::vector<std::vector<OperandDimension>> sources_;  // by index
  std::vector<std::pair<int, int>> alike_;  // operands with the structure arrays of another one
};

inline int64_t size_of(const std::vector<TensorView>& views, const OperandDimension& dimension) {
  return views[static_cast<size_t>(dimension.operand)]
      .sizes[static_cast<size_t>(dimension.dimension)];
}

}  // namespace tulle
