// Lowers and interprets nests, and computes the expected results from index notation.
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

// Dense copies of tensors, by name.
using Tensors = std::map<std::string, expr::ReferenceTensor>;

// A tensor of whole numbers from 1 to 9. Stores about this share of them. Depends only on the seed.
expr::ReferenceTensor some_tensor(std::vector<int64_t> sizes, double share, unsigned seed);

// Options with which small operands are cut into chunks and a few threads fill several blocks of a
// GPU.
Options many_chunks(Backend backend = Backend::Cpu);

class LoweredNest {
 public:
  // The text of a nest. Types are f64, so that sums of whole numbers are exact.
  explicit LoweredNest(std::string_view text, const Options& options = many_chunks(),
                       bool shares_result = false);

  // The host program and its kernels.
  std::string text() const;
  // The interpreter's result for these operands with `threads` threads.
  expr::ReferenceTensor run(const Tensors& operands, int64_t threads = 4) const;
  // The result of the statement by the reference evaluator.
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

// A nest, its statement, and the shares of stored entries in the operands.
struct Example {
  std::string nest;
  std::string statement;
  std::map<std::string, std::vector<int64_t>> sizes;  // of operands
  Options options = many_chunks();
  double share = 0.4;
};

// Runs the example on several operands. Returns the first error, or an empty text.
std::string wrong_with(const Example& example);
// Expects that the example is right, and wrong with each of these faults (support/mutant.h).
void expect_right(const Example& example, const std::vector<std::string>& mutants = {});
// Expects that the text contains the parts in this order.
void expect_parts(const std::string& text, const std::vector<std::string>& parts);

}  // namespace tulle::lower
