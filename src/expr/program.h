// Programs of index notation: as parsed, and resolved for given operand types.
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
  SourcePlace place = {};  // the place of the left side
  // The dense tensor of an earlier statement that the value is added to, instead of being stored
  // under its own name; only the compiler writes such statements.
  std::string adds_to = {};
  Reduction adds_by = Reduction::Sum;  // the operation: sum, product, maximum or minimum
};

struct ParsedProgram {
  std::vector<Statement> statements;
};

// Parses index notation; throws UserError with a caret at a mistake. Writer::Compiler also accepts
// literals of type bool, 0:bool, and made names such as C.acc (support/made_names.h).
enum class Writer : uint8_t { User, Compiler };
ParsedProgram parse_program(std::string_view text, Writer writer = Writer::User);
// Dimensions of operands, as pairs of operand and dimension numbers.
using Dimensions = std::set<std::pair<size_t, size_t>>;

// Parses "ij,jk->ik" over operands of the given names and ranks, with `...` and implicit outputs as
// in torch. The result is called `out`. A dimension of size 1 (`ones`) that shares its letter with
// a larger one is summed separately.
ParsedProgram parse_einsum(std::string_view equation, const std::vector<std::string>& operands,
                           const std::vector<int>& ranks, std::string_view out,
                           const Dimensions& ones = {});
std::string to_string(const ParsedProgram& program);

// The compile-time properties of a tensor.
struct TensorType {
  DType type = DType::Float32;
  DType index_type = DType::Int64;
  Format format = Format::dense(0);
  bool unbounded = false;  // whether it may hold infinities although the operands hold none
  int batches = 0;         // leading batch dimensions that results store in full
  std::string like = {};   // of an operand: another one with the same structure arrays
  bool operator==(const TensorType&) const = default;
};

// A source of an index's extent: dimension `dimension` of tensor `tensor`. At run time, all sources
// of an index must agree.
struct ExtentUse {
  std::string tensor;
  int dimension;
};

// A program with explicit sums, typed nodes, numbered accesses, and an extent for every index.
struct ResolvedProgram {
  std::vector<Statement> statements;
  std::map<std::string, TensorType> tensors;  // operands, intermediates and results
  std::vector<std::string> operands;          // in order of first use
  std::vector<std::string> results;  // the statements that no later statement reads, in order
  // For each statement, the sources of the extents of its indices, in operands only. An index is
  // local to its statement.
  std::vector<std::map<std::string, std::vector<ExtentUse>>> extents;
};

struct ResolveOptions {
  // Formats of results and intermediates; the rules of the language choose all others.
  std::map<std::string, Format> out_formats;
  // The index type of sparse results; the default is the widest index type of the sparse operands.
  std::optional<DType> index_type;
  // Scalar operands that are Python numbers: weak in promotion, like literals.
  std::set<std::string> numbers;
};

// Applies the rules of implicit sums, types, fills and result formats. Throws UserError with a
// caret if the program breaks a rule.
ResolvedProgram resolve(const ParsedProgram& program,
                        const std::map<std::string, TensorType>& operands,
                        const ResolveOptions& options = {});

}  // namespace tulle::expr
