// Parses the declarations of a nest; part of the parser.
#pragma once

#include <string>
#include <vector>

#include "nest/nest.h"
#include "nest/nest_scanner.h"

namespace tulle::nest {

// A tensor whose format is parsed once its uses determine the rank.
struct TensorDeclaration {
  Token name;
  Tensor tensor;
  std::string format;  // empty: dense
};

// Declarations begin with a keyword and a name, so that no name is reserved.
class DeclarationParser {
 public:
  // Adds declarations to the nest, except tensors.
  DeclarationParser(NestScanner& scanner, Nest& nest) : scanner_(scanner), nest_(nest) {}

  // Parses one; returns false if the next token starts no declaration.
  bool declaration();
  const std::vector<TensorDeclaration>& tensors() const { return tensors_; }

 private:
  bool tensor(Tensor::Role role);
  DType dtype();
  void property(TensorDeclaration& declared);
  bool extent();
  bool variable();
  Variable provenance();
  Variable fused();
  Variable stored();
  Variable chunk();
  std::string source();

  NestScanner& scanner_;
  Nest& nest_;
  std::vector<TensorDeclaration> tensors_;
};

}  // namespace tulle::nest
