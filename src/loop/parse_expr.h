// Reads expressions of the loop IR's text; part of the parser.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "loop/expr.h"
#include "support/scanner.h"

namespace tulle::loop {

// What the names mean where the parser stands. The verifier refuses names declared twice; here the
// last one counts.
struct DeclaredNames {
  std::map<std::string, Type, std::less<>> scalars;
  std::map<std::string, Buffer, std::less<>> buffers;
};

std::optional<ReduceOp> reduce_op_from(std::string_view text);

class LoopExprParser {
 public:
  LoopExprParser(Scanner& scanner, const DeclaredNames& names) : scanner_(scanner), names_(names) {}

  Expr parse();
  // An expression of a type that is known; `what` names it in errors.
  Expr parse_typed(Type type, std::string_view what);

  struct Element {
    Buffer buffer;
    Expr index, predicate;  // the predicate is null where none stands
  };
  Element parse_element();  // A[i], A[i if p]
  Buffer parse_buffer();
  std::string parse_name(std::string_view what);
  Type parse_type();
  DType parse_dtype();
  int parse_small(std::string_view what, int least, int most);

 private:
  Expr parse_binary(int precedence);
  Expr parse_primary();
  Expr parse_number(bool negative);
  Expr parse_named_number(bool negative);
  Expr parse_function(const Token& name);
  Expr parse_select(const Token& name);
  Expr parse_min_max(BinaryOp op);
  Expr parse_lanes(const Token& name);
  ReduceOp parse_reduce_op();
  ShuffleMode parse_shuffle_mode();
  int parse_width();

  Scanner& scanner_;
  const DeclaredNames& names_;
};

}  // namespace tulle::loop
