// The program of a derivative in the making.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "grad/derivative.h"
#include "grad/names.h"

namespace tulle::grad {

class DerivedProgram {
 public:
  // `normal` is a program in normal form.
  DerivedProgram(const expr::ResolvedProgram& normal, Names& names)
      : normal_(normal), names_(names) {}

  const expr::ResolvedProgram& normal() const { return normal_; }
  Names& names() { return names_; }

  bool is_float(const std::string& tensor) const;
  bool is_sparse(const std::string& tensor) const { return !type_of(tensor).format.is_dense(); }
  // Whether a statement assigns the tensor; otherwise it is an operand.
  bool is_assigned(const std::string& tensor) const;
  // The type of a tensor of the normal form.
  const expr::TensorType& type_of(const std::string& tensor) const {
    return normal_.tensors.at(tensor);
  }

  // A new operand with that role.
  std::string add_operand(DerivativeRole role, const std::string& of);
  void add(const expr::Statement& statement) { added_.push_back(statement); }
  void add_result(const std::string& name, const std::string& of) {
    derivative_.results.push_back({name, of});
  }

  // An expression that has a value where the tensor of the normal form stores one, or null if the
  // tensor is dense.
  expr::Expr pattern(const std::string& tensor, const std::vector<std::string>& indices) const;
  // `value` within the pattern of the tensor. A dense tensor only adds indices that the value
  // lacks.
  expr::Expr in_pattern(const std::string& tensor, const std::vector<std::string>& indices,
                        const expr::Expr& value) const;

  // The finished program: the statements of the normal form that the added ones read, then those.
  // Results of the normal form are read as operands.
  DerivativeStatements finish();

 private:
  void use(const std::string& tensor);
  // Removes added statements that no result needs.
  void drop_unread();

  const expr::ResolvedProgram& normal_;
  Names& names_;
  std::vector<expr::Statement> added_;
  DerivativeStatements derivative_;
  std::set<std::string> used_;  // tensors of the normal form
};

}  // namespace tulle::grad
