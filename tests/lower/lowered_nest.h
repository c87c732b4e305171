// Nests lowered and run by the interpreter, and what index notation says they compute.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/reference.h"
#include "loop/host.h"
#include "loop/interpret.h"
#include "lower/options.h"
#include "nest/nest.h"

namespace tulle::lower {

// Tensors spelled out, by name.
using Tensors = std::map<std::string, expr::ReferenceTensor>;

// A tensor of whole numbers between 1 and 9, of which about this share is stored; the same for the
// same seed.
expr::ReferenceTensor some_tensor(std::vector<int64_t> sizes, double share, unsigned seed);

// Small operands are cut into chunks, and a few threads fill several blocks of a GPU.
Options many_chunks(Backend backend = Backend::Cpu);

class LoweredNest {
 public:
  // The text of a nest. Types are f64, so that sums of whole numbers are exact.
  explicit LoweredNest(std::string_view text, const Options& options = many_chunks(),
                       bool shares_result = false);

  // The host program and its kernels.
  std::string text() const;
  // The result for these operands, as the interpreter computes it with `threads` threads.
  expr::ReferenceTensor run(const Tensors& operands, int64_t threads = 4) const;
  // What the statement says the result is.
  expr::ReferenceTensor expected(std::string_view statement, const Tensors& operands) const;

 private:
  void add_parameters();
  loop::Scalars scalars_of(const Tensors& operands) const;
  loop::Arrays arrays_of(const Tensors& operands, loop::Scalars& scalars) const;
  expr::ReferenceTensor collect(const loop::Arrays& outcome, const Tensors& operands) const;

  nest::Nest nest_;
  std::string result_;
  std::vector<std::string> result_indices_;
  loop::HostProgram program_;
};

// A nest, the statement that it computes, and the shares of the operands' entries that are stored.
struct Example {
  std::string nest;
  std::string statement;
  std::map<std::string, std::vector<int64_t>> sizes;  // of operands
  Options options = many_chunks();
  double share = 0.4;
};

// Empty if the example is right on several operands, else what is wrong.
std::string wrong_with(const Example& example);
// Expects that it is right, and that it is wrong with each of these faults (support/mutant.h).
void expect_right(const Example& example, const std::vector<std::string>& mutants = {});
// Expects that the parts stand in the text one after the other.
void expect_parts(const std::string& text, const std::vector<std::string>& parts);

}  // namespace tulle::lower
