// Reads the expressions of one statement; part of the parser of index notation.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "expr/notation_scanner.h"
#include "expr/program.h"

namespace tulle::expr {

// What the names of a program have been used for so far.
struct UsedNames {
  std::set<std::string> assigned, read;
};

class ExprParser {
 public:
  ExprParser(NotationScanner& scanner, UsedNames& names, Writer writer)
      : scanner_(scanner), names_(names), writer_(writer) {}

  Expr sum();  // term (+|- term)*
  // [i,j,...] and where each stands; the caller has seen the bracket.
  std::vector<std::string> subscripts(std::vector<Span>& places);

 private:
  // The indices that a reduction names, (j,k) or j.
  struct Named {
    std::vector<std::string> indices;
    std::vector<Span> places;
  };

  // parse_expr.cpp
  Expr product();
  Expr signed_factor();
  Expr factor();
  Expr number();
  Expr call(const Token& name);
  Expr choice();
  Expr mask();
  Expr access(const std::string& name, std::vector<std::string> indices);
  template <typename Body>
  Expr parenthesized(const Body& body);
  void expect_comma();
  void count_operation();

  // parse_reduction.cpp
  Expr reduction(Reduction op);
  Expr softmax(bool is_log);
  Named reduced_indices(Reduction op);
  bool is_elementwise(Reduction op);
  Expr domain();
  std::optional<double> empty_value();
  void check_bound(const Named& named) const;

  NotationScanner& scanner_;
  UsedNames& names_;
  const Writer writer_;
  std::vector<std::string> bound_;  // by the sums around
  int next_id_ = 0;
  int operations_ = 0;
};

}  // namespace tulle::expr
