// Runs one program on random data in three ways: compiled, interpreted and with the reference
// evaluator.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "expr/storage.h"

namespace tulle::differential {

// The distribution of an operand's entries.
enum class Spread : uint8_t { Even, EmptyRows, OneEntry };

struct Operand {
  std::string name;
  std::string format = "dense";
  std::vector<int64_t> sizes;
  double density = 0.3;
  DType type = DType::Float32;
  DType index_type = DType::Int32;
  bool explicit_zeros = false;  // some stored entries are 0
  Spread spread = Spread::Even;
  int64_t longest_row = 0;  // the bound that the program receives; 0: none
};

struct Case {
  std::string text;  // index notation
  std::vector<Operand> operands;
  std::map<std::string, std::string> out_formats;
  std::string schedule;
  std::string features;
  unsigned seed = 0;
  int threads = 2;
  bool small_chunks = true;  // cut loops into chunks even with little work
  bool gpu = false;          // plan for a GPU, and only interpret
  // The multiprocessors of the assumed GPU, which runs `threads` threads. 0: unknown when
  // interpreted, the real number when run on a GPU.
  int multiprocessors = 0;
  bool deterministic = false;  // on a GPU: sums of floating-point numbers have one order
  bool one_body = false;       // loops have one body for all points of a merge lattice
  bool light = false;          // light code, without unrolling and with few LLVM passes
};

// The complete text of a case, and the inverse. Throws a UserError if the text is wrong.
std::string to_string(const Case& test);
Case parse_case(std::string_view text);

// Only kOnGpu needs a GPU. kInGoodCode adds a second run after optimised code has replaced light
// code.
enum Engines : int { kCompiled = 1, kInterpreted = 2, kBoth = 3, kOnGpu = 4, kInGoodCode = 8 };

// Empty if all engines agree, otherwise the differences. Errors of the compiler count as
// differences. A UserError or Unsupported goes to `refused`, if that is not null, and is no
// difference.
std::string run_case(const Case& test, int engines = kBoth, std::string* refused = nullptr);

// The output of each stage for the case, up to the loop IR after passes.
std::string explain_case(const Case& test);
// The same for the first GPU, which must exist.
std::string explain_on_gpu(const Case& test);

// The operand's data, drawn from the seed, as a dense copy and as stored. Stored lists may repeat
// coordinates or contain them in any order.
expr::ReferenceTensor draw(const Operand& operand, unsigned seed);
expr::StoredTensor draw_stored(const Operand& operand, unsigned seed);

// The same for an operand in a composite format: draws its parts, which together have the entries
// of one tensor, and the dense copy of the whole.
bool is_composite(const Operand& operand);
std::vector<expr::StoredTensor> draw_parts(const Operand& operand, unsigned seed);
std::vector<expr::StoredTensor> parts_of(const expr::ReferenceTensor& tensor,
                                         const Operand& operand);
expr::ReferenceTensor spell_out_parts(const std::vector<expr::StoredTensor>& parts);

}  // namespace tulle::differential
