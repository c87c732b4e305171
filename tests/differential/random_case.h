// Random cases: programs, formats, shapes, data and schedules.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "differential/differential.h"

namespace tulle::differential {

// Draws small random choices.
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

// The case of a seed. Some cases are illegal and refused.
Case random_case(uint64_t seed);

// These replace the drawn program by one of a certain shape (special_programs.cpp).
//
// Products that gather from the rows of a matrix, for which the GPU rules have plans. Some numbers
// of rows and columns fill warps, others leave lanes idle.
void multiply_rows(Dice& dice, DType type, DType index_type, Case& test);
// The same with rows that chunks of equal work cut.
void cut_rows(Dice& dice, DType type, DType index_type, Case& test);
// Results with blocks, whose values the members of a chunk may share.
void share_blocks(Dice& dice, DType type, DType index_type, Case& test);
// A function of sums over a decomposed operand. Or sums over a decomposed operand that distinguish
// a stored 0 from no entry. Only some of these can be computed part by part.
void apply_to_sums(Dice& dice, DType type, DType index_type, Case& test);
// Reductions of sums that may be empty.
void reduce_sums(Dice& dice, DType index_type, Case& test);

// A format for a tensor of that rank: a name, or the long form with any dimension order and blocks.
// Unless `sorted`, coordinates may be unordered and repeated.
std::string random_format(Dice& dice, int rank, bool sorted);

// A composite format of at least two random selectors and formats, for a tensor of that rank.
std::string random_composite(Dice& dice, int rank);

// A schedule of steps that the case's statements accept, and sometimes one that they refuse. The
// case's schedule contains the decompositions before it. Steps may name one of the parts.
std::string random_schedule(Dice& dice, const Case& test);

}  // namespace tulle::differential
