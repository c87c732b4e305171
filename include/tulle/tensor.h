// Tensors of programs: their specification at compile time, the arrays of operands and results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tulle/dtype.h"
#include "tulle/export.h"

namespace tulle {

// A dimension of an operand. Operands are numbered in the order in which run() takes them.
struct OperandDimension {
  int operand = 0;
  int dimension = 0;
};

// The properties of a tensor that are known when a program is compiled.
struct TensorSpec {
  std::string name;
  // A name such as csr or bsr(16,16), or the long form "(i,j) -> (i: dense, j: compressed)". For an
  // operand also a composite format, such as hyb(2,3) or "{ rows(nnz<=4): ell(4); rest: csr }".
  std::string format = "dense";
  DType type = DType::Float32;
  DType index_type = DType::Int32;
  int rank = 0;
  // Results only: the operand dimension that determines each size. Program sets it.
  std::vector<OperandDimension> sizes_from;
  // Sparse operands only: an upper bound of the entries of a row, where a row is one segment of the
  // last compressed level; 0: unknown. The planner uses it as a hint; plans are correct without it.
  int64_t longest_row = 0;
  // Of an operand: another sparse operand of the same format and index type whose structure arrays
  // are the very arrays of this one; empty: none. Statements then walk over both at once. Of a
  // result: the operand whose entries are the entries of the result, in the same order; Program
  // sets it.
  std::string like;
};

// An array that belongs to the caller.
struct ArraySpan {
  const void* data = nullptr;
  int64_t length = 0;  // in elements
};

struct LevelSpan {
  ArraySpan pos;  // empty if the level kind stores no positions
  ArraySpan crd;  // of a bitmap: one byte per slot
};

struct TensorView {
  std::vector<int64_t> sizes;     // by dimension
  std::vector<LevelSpan> levels;  // outermost first
  ArraySpan values;
  // Composite formats only: the parts in order, each with the sizes of the whole tensor. The whole
  // then has no levels and values of its own.
  std::vector<TensorView> parts = {};
  // A number from new_structure() that identifies the contents of the levels. Runs cache data
  // derived from the levels under this number; 0: they cache nothing. A caller that sets it must
  // not change the levels afterwards, and must call forget_structure() when it frees them.
  uint64_t structure = 0;
};

TULLE_API uint64_t new_structure() noexcept;
TULLE_API void forget_structure(uint64_t structure) noexcept;

// A piece of data cached for a structure.
struct KeptData {
  std::string what;  // its description
  int64_t bytes = 0;
};
TULLE_API std::vector<KeptData> kept_data(uint64_t structure);

// An array of a result.
struct ResultArray {
  void* data = nullptr;
  int64_t length = 0;
  DType type = DType::Float32;
  void* handle = nullptr;   // the handle from Memory; null for an array shared with an operand
  int shared_operand = -1;  // the operand that owns this structure array; -1: allocated by Memory
};

struct ResultTensor {
  std::vector<int64_t> sizes;
  std::vector<ResultArray> pos;  // by level; no data if the level kind stores no positions
  std::vector<ResultArray> crd;
  ResultArray values;
};

}  // namespace tulle
