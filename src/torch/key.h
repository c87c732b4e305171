// The key of a program: a text that holds all there is to know of it, so that any process can
// compile it.
//
//   operand A f32 i32 2 csr          name, type, index type, rank, format: a line for each operand,
//   operand B f32 i32 2 dense        in the order of run(); before a format may stand longest=64:
//                                    no row has more entries
//   out C csr                        the format of a result, `*` for the only one; optional, as are
//   one 1 0                          the next five; dimension 0 of operand 1 (from 0) has size 1
//   schedule parallel(i, by=nnz)     a line for each of the schedule's
//   features avx2
//   reduce amax                      of an einsum
//   checked
//   untuned                          without a schedule that was found by measuring
//   compute                          or `einsum`
//   C[i,k] = A[i,j] * B[j,k]         all that follows is index notation, or the equation
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
  std::string text;  // index notation, or the equation
};

// UserError with the line that is wrong.
Key parse_key(std::string_view text);

// "A f32 i32 2 csr": an operand's line without its first word.
TensorSpec parse_spec(std::string_view text);
// The same text again.
std::string to_string(const TensorSpec& spec);

}  // namespace tulle::shim
