// The matrix: every operation in every format under every condition and type.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "differential/differential.h"

namespace tulle::differential {

// A program whose operands are stored in formats of their own; indices have the extents of
// matrix.cpp.
struct Operation {
  std::string name;
  std::string text;
  std::vector<std::string> operands;  // "A[i,j]": a name and the indices that give its sizes
};
inline void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

const std::vector<Operation>& operations();

// What a cell varies beside operation and formats.
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

// The cells of an operation: all of them, or a sample that has every combination of formats once
// and every condition and type. The formats of two operands come in all pairs; of three and more,
// any two of them do.
std::vector<Case> cells(const Operation& operation, bool all);

}  // namespace tulle::differential
