// Reads one nest; part of the parser.
#pragma once

#include <map>
#include <set>
#include <string>

#include "nest/nest.h"
#include "nest/nest_scanner.h"
#include "nest/parse_declarations.h"

namespace tulle::nest {

// Parses the text, then derives types from declarations and uses.
class NestParser {
 public:
  explicit NestParser(NestScanner& scanner) : scanner_(scanner) {}

  // Parses and verifies nest { ... }; leaves the text after it.
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
  // Workspaces without indices that hold values of tensors with indices.
  std::set<std::string> strong_;
};

// Parses a format in its long form, which implies the rank; NestParser handles names.
Format parse_long_format(const std::string& text);

}  // namespace tulle::nest
