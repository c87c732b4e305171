// A program together with what binding tensors to it needs.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "tulle/tulle.h"

namespace tulle::shim {

// Where an array of a tensor belongs: the positions or the coordinates of a level.
struct ArrayPlace {
  size_t level = 0;
  bool is_pos = false;
  DType type = DType::Int64;
};

// The tensors that an operand or a result consists of: its structure arrays in this order, then its
// values. A plain one is a row-major dense tensor whose shape says its sizes; any other has a
// vector of values and sizes told apart from it. A composite one has the arrays of its parts one
// after the other and one vector of values, in which each part begins at a multiple of kPartStep;
// behind its sizes stand the numbers of values of its parts.
struct TensorLayout {
  TensorSpec spec;
  bool is_plain = false;
  bool is_asked_for = false;  // of a result: its format is the one that the caller named
  std::vector<LevelInfo> levels;
  std::vector<ArrayPlace> arrays;
  std::vector<TensorLayout> parts;

  // How many numbers tell its sizes.
  size_t number_count() const { return static_cast<size_t>(spec.rank) + parts.size(); }
};

// So that parts are aligned as results are, whatever the type of the values.
inline constexpr int64_t kPartStep = 64;

TensorLayout layout_of(const TensorSpec& spec);

struct Prepared {
  std::shared_ptr<const Program> program;
  std::vector<TensorLayout> operands, results;
  size_t tensor_count = 0;      // of all operands
  size_t size_count = 0;        // dimensions of the operands that are not plain
  int64_t structure_count = 0;  // of these operands

  // For the table of programs: when it was used last, and whether the table still has it.
  mutable std::atomic<uint64_t> last_used = 0;
  mutable std::atomic<bool> is_kept = true;
};

// The program of that key, resolved.
std::shared_ptr<const Prepared> prepare(std::string_view key);

}  // namespace tulle::shim
