// Reads the expressions of one statement; part of the parser of index notation.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "expr/notation_scanner.h"
#include "expr/program.h"

namespace tulle::expr {

// The uses of names in the program so far.
struct UsedNames {
  std::set<std::string> assigned, read;
};

class ExprParser {
 public:
  ExprParser(NotationScanner& scanner, UsedNames& names, Writer writer)
      : scanner_(scanner), names_(names), writer_(writer) {}

  Expr sum();  // term (+|- term)*
  // [i,j,...] and the place of each index; the caller has checked for the bracket.
  std::vector<std::string> subscripts(std::vector<Span>& places);

 private:
  // A called function, and the number of its token.
  struct FunctionCall {
    std::string_view name;
    size_t begin;
  };

  // The indices of a reduction, (j,k) or j.
  struct ReducedIndices {
    std::vector<std::string> indices;
    std::vector<Span> places;
  };

  // parse_expr.cpp
  Expr product();
  Expr signed_factor();
  Expr factor();
  Expr number();
  Expr call();
  Expr choice(const FunctionCall& call);
  Expr mask(const FunctionCall& call);
  Expr access(const std::string& name, std::vector<std::string> indices);
  Expr parenthesized();
  template <typename Body>
  Expr arguments(const FunctionCall& call, const Body& body);
  void expect_comma(const FunctionCall& call);
  [[noreturn]] void fail_arguments(const FunctionCall& call, std::string_view expected);
  void count_operation();

  // parse_reduction.cpp
  Expr reduction(const FunctionCall& call, Reduction op);
  Expr softmax(const FunctionCall& call);
  Token reduced_index(const FunctionCall& call);
  ReducedIndices reduced_indices(const FunctionCall& call);
  bool is_elementwise(Reduction op);
  Expr domain();
  std::optional<double> empty_value(const FunctionCall& call);
  void check_bound(const ReducedIndices& named) const;

  NotationScanner& scanner_;
  UsedNames& names_;
  const Writer writer_;
  std::vector<std::string> bound_;  // indices bound by enclosing sums
  int next_id_ = 0;
  int operations_ = 0;
};

}  // namespace tulle::expr
