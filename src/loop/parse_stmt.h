// The statement parser of the loop IR's text.
#pragma once

#include "loop/parse_expr.h"
#include "loop/stmt.h"

namespace tulle::loop {

class LoopStmtParser {
 public:
  // `names` are visible to the statements. Names that statements declare are removed afterwards.
  LoopStmtParser(Scanner& scanner, DeclaredNames& names)
      : scanner_(scanner), names_(names), exprs_(scanner, names) {}

  Stmt parse_block();  // { ... }

 private:
  Stmt parse();
  Stmt parse_declaration();
  Stmt parse_for();
  Stmt parse_while();
  Stmt parse_if();
  Stmt parse_allocate(const std::string& name);
  Stmt parse_assign(const std::string& name, const Token& at);
  Stmt parse_store(bool nontemporal);
  Stmt parse_atomic(const std::string& result);
  Stmt parse_call();
  bool at_loop() const;

  Scanner& scanner_;
  DeclaredNames& names_;
  LoopExprParser exprs_;
};

}  // namespace tulle::loop
