// Reads one nest; part of the parser.
#pragma once

#include <map>
#include <set>
#include <string>

#include "nest/nest.h"
#include "nest/nest_scanner.h"
#include "nest/parse_declarations.h"

namespace tulle::nest {

// The text read, then the types that declarations and uses tell together.
class NestParser {
 public:
  explicit NestParser(NestScanner& scanner) : scanner_(scanner) {}

  // nest { ... }, verified; what follows is left to the caller.
  Nest parse();

 private:
  void add_tensor(const TensorDeclaration& declared);
  int rank_of(const Token& name) const;
  void find_strong();
  Stmt typed(const Stmt& stmt);
  void use(const expr::Access& access);

  NestScanner& scanner_;
  Nest nest_;
  std::map<std::string, expr::TensorType> tensor_types_;
  std::set<std::string> strong_;  // without indices, and made of what has some
};

// The format that a declaration gives in its long form, which tells the rank; see NestParser for
// names.
Format parse_long_format(const std::string& text);

}  // namespace tulle::nest
