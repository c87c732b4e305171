// Programs of index notation: as parsed, and resolved against the types of their operands.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/expr.h"
#include "format/format.h"

namespace tulle::expr {

// tensor[indices] = value
struct Statement {
  std::string tensor;
  std::vector<std::string> indices;
  Expr value;
  SourcePlace place = {};  // of the left side
  // The dense tensor of an earlier statement that the value is added to instead of being stored
  // under a name of its own; only the compiler writes such statements.
  std::string adds_to = {};
  Reduction adds_by = Reduction::Sum;  // how: also a product, maximum or minimum
};

struct ParsedProgram {
  std::vector<Statement> statements;
};

// Index notation; UserError with a caret where it is wrong. What compilers write may have numbers
// of type bool, 0:bool, beyond what users write.
enum class Writer : uint8_t { User, Compiler };
ParsedProgram parse_program(std::string_view text, Writer writer = Writer::User);
// Dimensions of operands: the number of the operand and that of its dimension.
using Dimensions = std::set<std::pair<size_t, size_t>>;

// "ij,jk->ik" over operands of the given names and ranks; `...` and implicit outputs as in torch.
// The result is called `out`. A dimension of size 1 (`ones`) that shares its letter with another
// one is summed by itself.
ParsedProgram parse_einsum(std::string_view equation, const std::vector<std::string>& operands,
                           const std::vector<int>& ranks, std::string_view out,
                           const Dimensions& ones = {});
std::string to_string(const ParsedProgram& program);

// What is known of a tensor at compile time.
struct TensorType {
  DType type = DType::Float32;
  DType index_type = DType::Int64;
  Format format = Format::dense(0);
  bool unbounded = false;  // whether it may hold infinities where the operands hold none
  int batches = 0;  // leading dimensions that results have in full, whatever is stored of them
  bool operator==(const TensorType&) const = default;
};

// Where an index's extent can be read: dimension `dimension` of tensor `tensor`. All uses must
// agree at run time.
struct ExtentUse {
  std::string tensor;
  int dimension;
};

// Every sum explicit, every node typed, every access numbered in its statement, every index's
// extent known.
struct ResolvedProgram {
  std::vector<Statement> statements;
  std::map<std::string, TensorType> tensors;  // operands, intermediates and results
  std::vector<std::string> operands;          // in order of first use
  std::vector<std::string> results;           // statements that nothing later uses, in order
  // For each statement where the extents of its indices come from; operands only. An index is known
  // in its statement alone.
  std::vector<std::map<std::string, std::vector<ExtentUse>>> extents;
};

struct ResolveOptions {
  std::map<std::string, Format>
      out_formats;  // of results and intermediates; else by the rules of the language
  std::optional<DType> index_type;  // of sparse results; else the widest of the sparse operands'
  std::set<std::string>
      numbers;  // scalar operands given as Python numbers: weak in promotion, as literals are
};

// Applies the rules on implicit sums, types, fills and result formats. UserError with a caret where
// the program breaks a rule.
ResolvedProgram resolve(const ParsedProgram& program,
                        const std::map<std::string, TensorType>& operands,
                        const ResolveOptions& options = {});

}  // namespace tulle::expr
