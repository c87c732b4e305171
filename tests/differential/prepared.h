// A case made ready to run: its data, its program resolved, and the request to compile it.
#pragma once

#include "compile.h"
#include "differential/differential.h"
#include "loop/interpret.h"
#include "tulle/tulle.h"

namespace tulle::differential {

struct Prepared {
  // UserError where the case breaks a rule of the language.
  explicit Prepared(const Case& test);
  Prepared(const Prepared&) = delete;  // the request points into it
  Prepared& operator=(const Prepared&) = delete;

  std::vector<TensorSpec> given;  // the case's operands
  // As kernels see them: those in composite formats as their parts.
  std::vector<expr::StoredTensor> operands;
  std::vector<TensorSpec> specs;
  std::vector<int> owners;  // the number of the given operand that each is a part of
  std::map<std::string, expr::ReferenceTensor> spelled;
  expr::ResolvedProgram resolved;
  plan::UniqueProgram program;
  CompileRequest request;
  loop::Scalars scalars;  // of the host program
  loop::Arrays arrays;
};

}  // namespace tulle::differential
