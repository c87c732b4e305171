// The matrix: every operation in every format under every condition and type.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "differential/differential.h"

namespace tulle::differential {

// A program with its operands. Their formats vary. matrix.cpp defines the extents of indices.
struct Operation {
  std::string name;
  std::string text;
  std::vector<std::string> operands;  // "A[i,j]": a name and the indices that give its sizes
};
inline void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

const std::vector<Operation>& operations();

// The data conditions of a cell.
enum class Condition : uint8_t {
  Rectangular,
  EmptyRows,
  NoEntries,
  ExplicitZeros,
  OneEntry,
  SizeOne,
  SizeZero
};
inline constexpr int kConditions = 7;

// The cells of an operation: all, or a sample that has every combination of formats once and every
// condition and type. Combinations cover all pairs of formats for any two operands.
std::vector<Case> cells(const Operation& operation, bool all);

}  // namespace tulle::differential
