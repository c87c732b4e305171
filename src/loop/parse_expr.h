// The expression parser of the loop IR's text.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "loop/expr.h"
#include "support/scanner.h"

namespace tulle::loop {

// The names that are visible at the parser's position. Of duplicate names the last one counts here;
// the verifier rejects duplicates.
struct DeclaredNames {
  std::map<std::string, Type, std::less<>> scalars;
  std::map<std::string, Buffer, std::less<>> buffers;
};

std::optional<ReduceOp> reduce_op_from(std::string_view text);

class LoopExprParser {
 public:
  LoopExprParser(Scanner& scanner, const DeclaredNames& names) : scanner_(scanner), names_(names) {}

  Expr parse();
  // Parses an expression of a known type. `what` names it in errors.
  Expr parse_typed(Type type, std::string_view what);

  struct Element {
    Buffer buffer;
    Expr index, predicate;  // the predicate is null if there is none
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
