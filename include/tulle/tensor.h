// Tensors as programs see them: what is known of one when a program is compiled, and the arrays of
// operands and results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tulle/dtype.h"
#include "tulle/export.h"

namespace tulle {

// A dimension of one of a program's operands, counted in the order that run() takes them.
struct OperandDimension {
  int operand = 0;
  int dimension = 0;
};

// What is known of a tensor when a program is compiled.
struct TensorSpec {
  std::string name;
  // A name (csr, bsr(16,16), ...), the long form "(i,j) -> (i: dense, j: compressed)", or of an
  // operand a composite (hyb(2,3), "{ rows(nnz<=4): ell(4); rest: csr }").
  std::string format = "dense";
  DType type = DType::Float32;
  DType index_type = DType::Int32;
  int rank = 0;
  // Of a result: the operand's dimension that each of its sizes comes from, filled by compile(); of
  // an operand: not read.
  std::vector<OperandDimension> sizes_from;
  // Of a sparse operand: no row of it has more entries than this, a row being what one position of
  // its last compressed level holds; 0: not known. A hint for plans, which hold for any operand.
  int64_t longest_row = 0;
};

// An array of a caller's tensor.
struct ArraySpan {
  const void* data = nullptr;
  int64_t length = 0;  // in elements
};

struct LevelSpan {
  ArraySpan pos;  // empty where the level's kind stores none
  ArraySpan crd;  // of a bitmap: a byte a slot
};

struct TensorView {
  std::vector<int64_t> sizes;     // by dimension
  std::vector<LevelSpan> levels;  // outermost first
  ArraySpan values;
  // Of a composite format: levels and values of its parts, in their order, in place of its own; all
  // have its sizes.
  std::vector<TensorView> parts = {};
  // A number that no other structure has had in this process (new_structure), under which what was
  // made of these levels may be kept for later runs; 0: nothing is kept. Whoever gives it changes
  // the levels no more, and says when they are gone (forget_structure).
  uint64_t structure = 0;
};

TULLE_API uint64_t new_structure() noexcept;
TULLE_API void forget_structure(uint64_t structure) noexcept;

// What is kept for a structure.
struct KeptData {
  std::string what;
  int64_t bytes = 0;
};
TULLE_API std::vector<KeptData> kept_data(uint64_t structure);

// An array of a result, allocated by Memory.
struct ResultArray {
  void* data = nullptr;
  int64_t length = 0;
  DType type = DType::Float32;
  void* handle = nullptr;   // what Memory gave for it; null for an array shared with an operand
  int shared_operand = -1;  // the operand whose structure array this is, else -1
};

struct ResultTensor {
  std::vector<int64_t> sizes;
  std::vector<ResultArray> pos;  // by level; no data where the level's kind stores none
  std::vector<ResultArray> crd;
  ResultArray values;
};

}  // namespace tulle
