// The key of a program: a text with everything needed to compile it, valid in any process.
//
//   operand A f32 i32 2 csr          a line for each operand, in the order of run(): name, type,
//   operand B f32 i32 2 dense        index type, rank, format. longest=64 before the format: no row
//                                    has more entries. like=A after that: the operand has the
//                                    structure arrays of A
//   out C csr                        the format of a result; `*` names the only one
//   one 1 0                          dimension 0 of operand 1 (counted from 0) has size 1
//   schedule parallel(i, by=nnz)     a line for each line of the schedule
//   features avx2
//   reduce amax                      for an einsum
//   checked
//   untuned                          ignores kept schedules
//   compute                          or `einsum`
//   C[i,k] = A[i,j] * B[j,k]         index notation, or the equation
//
// All lines between the operands and `compute` are optional.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tulle/tulle.h"

namespace tulle::shim {

struct Key {
  std::vector<TensorSpec> operands;
  ProgramOptions options;
  bool is_einsum = false;
  std::string text;  // index notation or the equation
};

// Throws UserError with the wrong line.
Key parse_key(std::string_view text);

// "A f32 i32 2 csr": an operand line without its first word.
TensorSpec parse_spec(std::string_view text);
// The inverse of parse_spec().
std::string to_string(const TensorSpec& spec);

}  // namespace tulle::shim
