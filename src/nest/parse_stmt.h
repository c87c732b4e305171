// Parses the loops and assignments of a nest; part of the parser.
#pragma once

#include "nest/nest.h"
#include "nest/nest_scanner.h"

namespace tulle::nest {

// expr/ parses the right sides, which have no types yet.
class StmtParser {
 public:
  // Adds the variables of loops to the nest.
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
