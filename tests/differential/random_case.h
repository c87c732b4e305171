// Random cases: programs, formats, shapes, data and schedules.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "differential/differential.h"

namespace tulle::differential {

// A source of small choices.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  // One of 0 .. count-1.
  size_t below(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random_);
  }
  int64_t between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  bool chance(double share) { return std::bernoulli_distribution(share)(random_); }
  template <typename T>
  const T& pick(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    std::shuffle(values.begin(), values.end(), random_);
  }

 private:
  std::mt19937_64 random_;
};

// The same case for the same seed. Not every one is legal: some are refused.
Case random_case(uint64_t seed);

// These put programs of certain shapes in the place of what was drawn (special_programs.cpp).
//
// Products of a matrix row by row and what is gathered of its rows, which plans for GPUs are made
// for, with rows and columns that fill warps and leave lanes over.
void multiply_rows(Dice& dice, DType type, DType index_type, Case& test);
// The same with rows that are cut wherever chunks of equal work end.
void cut_rows(Dice& dice, DType type, DType index_type, Case& test);
// Results with blocks, whose values the members of a chunk may share.
void share_blocks(Dice& dice, DType type, DType index_type, Case& test);
// A function of sums over an operand in parts, or sums that tell an entry of value 0 from none over
// one that is taken apart. Only some can be taken into the parts.
void apply_to_sums(Dice& dice, DType type, DType index_type, Case& test);
// Reductions of what sums are in that may have no terms.
void reduce_sums(Dice& dice, DType index_type, Case& test);

// A format for a tensor of that rank: a name, or the long form with any dimension order, blocks
// and, unless `sorted`, coordinates in any order and repeated ones.
std::string random_format(Dice& dice, int rank, bool sorted);

// A composite format of random selectors and formats for a tensor of that rank, two at least.
std::string random_composite(Dice& dice, int rank);

// A schedule of steps that the case's statements accept, and now and then one that they do not. The
// case's own schedule says what is taken apart before; steps may be for one of the parts.
std::string random_schedule(Dice& dice, const Case& test);

}  // namespace tulle::differential
