// Helpers that make operands, resolve programs and read results.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "expr/program.h"
#include "expr/reference.h"

namespace tulle::expr {

// A type and a format, "csr" or "i64 csr". The default type is f32. Coordinates are i32.
TensorType type(const std::string& text, int rank);

// Each operand as {name, rank, text of its type}.
struct Operand {
  std::string name;
  int rank;
  std::string text;
};
ResolvedProgram resolved(const std::string& program, const std::vector<Operand>& operands,
                         const ResolveOptions& options = {});

// The resolved statements, one per line.
std::string text_of(const ResolvedProgram& program);

// The texts above the carets of an error. The texts above several groups of carets are joined by "
// ".
std::string underlined(const std::string& message);

// A tensor by its entries in row-major order; `_` is an absent one.
inline constexpr std::nullopt_t _ = std::nullopt;
ReferenceTensor tensor(std::vector<int64_t> sizes,
                       const std::vector<std::optional<double>>& entries,
                       DType type = DType::Float32);
// The entries of a tensor in row-major order, absent ones as "_": "1 _ 2.5".
std::string entries(const ReferenceTensor& tensor);

}  // namespace tulle::expr
