// Reads the loops and assignments of a nest's text; part of the parser.
#pragma once

#include "nest/nest.h"
#include "nest/nest_scanner.h"

namespace tulle::nest {

// Right sides are read by expr/ and have no types yet.
class StmtParser {
 public:
  // Variables of loops are entered into the nest.
  StmtParser(NestScanner& scanner, Nest& nest) : scanner_(scanner), nest_(nest) {}

  Stmt stmt();

 private:
  Stmt block();
  Stmt forall();
  LoopTag loop_tag();
  Stmt where();
  Stmt sequence();
  Accumulate accumulation(const Token& token) const;
  Stmt assign();

  NestScanner& scanner_;
  Nest& nest_;
};

}  // namespace tulle::nest
