// The table of compiled programs of this process, by key.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tulle/tulle.h"

namespace tulle::shim {

// Where an array of a tensor belongs: the positions or the coordinates of a level.
struct ArrayPlace {
  size_t level = 0;
  bool is_pos = false;
};

// The tensors that an operand or a result consists of: its structure arrays in this order, then its
// values. A plain one is a row-major dense tensor whose shape says its sizes; any other has a
// vector of values and sizes told apart from it.
struct TensorLayout {
  TensorSpec spec;
  bool is_plain = false;
  std::vector<FormatInfo::Level> levels;
  std::vector<ArrayPlace> arrays;
};

TensorLayout layout_of(const TensorSpec& spec);

struct Prepared {
  std::shared_ptr<const Program> program;
  std::vector<TensorLayout> operands, results;
  size_t tensor_count = 0;  // of all operands
  size_t size_count = 0;    // dimensions of the operands that are not plain
};

// The program of that key, compiled if this process has not met it yet. Any number of threads may
// ask at once, one of them compiles; after a fork the child has what the parent had finished.
std::shared_ptr<const Prepared> find_program(std::string_view key);

// A number for the program of that key, good in this process and in what it forks: handing it over
// costs less than the key.
int64_t number_of_program(std::string_view key);
// The program of a number; UserError for one that was never given.
std::shared_ptr<const Prepared> numbered_program(int64_t number);

}  // namespace tulle::shim
