// One program on random data, three ways: compiled, interpreted and by the reference evaluator.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "expr/storage.h"

namespace tulle::differential {

// How the entries of an operand are spread.
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
  int64_t longest_row = 0;  // entries, as the program is told; 0: it is not
};

struct Case {
  std::string text;  // index notation
  std::vector<Operand> operands;
  std::map<std::string, std::string> out_formats;
  std::string schedule;
  std::string features;
  unsigned seed = 0;
  int threads = 2;
  bool small_chunks = true;  // cut loops into chunks however little work there is
  bool gpu = false;          // planned for a GPU, and only interpreted
  // Of the GPU that is planned for, which runs as many `threads`, whichever GPU is there; 0: not
  // known where it is interpreted, and else what the GPU has.
  int multiprocessors = 0;
  bool deterministic = false;  // on a GPU: sums of floating-point numbers have one order
  bool light = false;          // code that is ready soon: no loops written out, LLVM takes no pains
};

// Text that says everything needed to run the case again, and the way back; UserError where it is
// wrong.
std::string to_string(const Case& test);
Case parse_case(std::string_view text);

// kOnGpu needs a GPU; the others do not. With kInGoodCode there is a second run, when good code has
// taken the place of light code.
enum Engines : int { kCompiled = 1, kInterpreted = 2, kBoth = 3, kOnGpu = 4, kInGoodCode = 8 };

// Empty if all agree, else what differs where; errors of the compiler are reported as differences,
// but for a UserError or Unsupported, which `refused` gets (if not null) and which then is no
// difference.
std::string run_case(const Case& test, int engines = kBoth, std::string* refused = nullptr);

// What each stage makes of the case, up to the loop IR after passes.
std::string explain_case(const Case& test);
// The same of the first GPU, which must be there.
std::string explain_on_gpu(const Case& test);

// The operand's data, drawn from the seed: spelled out, and as it is stored. A list of coordinates
// that may repeat or stand in any order does.
expr::ReferenceTensor draw(const Operand& operand, unsigned seed);
expr::StoredTensor draw_stored(const Operand& operand, unsigned seed);

// The same for an operand in a composite format, as its parts, which have all entries of a tensor;
// and these spelled out together.
bool is_composite(const Operand& operand);
std::vector<expr::StoredTensor> draw_parts(const Operand& operand, unsigned seed);
std::vector<expr::StoredTensor> parts_of(const expr::ReferenceTensor& tensor,
                                         const Operand& operand);
expr::ReferenceTensor spell_out_parts(const std::vector<expr::StoredTensor>& parts);

}  // namespace tulle::differential
