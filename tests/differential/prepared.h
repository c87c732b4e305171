// A case with its data, its resolved program and the request to compile it.
#pragma once

#include "differential/differential.h"
#include "driver/compile.h"
#include "driver/machine.h"
#include "loop/interpret.h"
#include "tulle/tulle.h"

namespace tulle::differential {

struct Prepared {
  // Throws a UserError if the case breaks a rule of the language.
  explicit Prepared(const Case& test);
  Prepared(const Prepared&) = delete;  // the request points into it
  Prepared& operator=(const Prepared&) = delete;

  std::vector<TensorSpec> given;  // the case's operands
  // per operand; for a composite one, its parts
  std::vector<std::vector<expr::StoredTensor>> stored;
  // The operands of the kernels. Operands in composite formats, and those that the schedule
  // decomposes, are replaced by their parts.
  std::vector<expr::StoredTensor> operands;
  std::vector<TensorSpec> specs;
  std::map<std::string, expr::ReferenceTensor> spelled;
  expr::ResolvedProgram resolved;
  plan::UniqueProgram program;
  CompileRequest request;
  loop::Scalars scalars;  // of the host program
  loop::Arrays arrays;
};

// The limits that the case is compiled with.
CompileLimits limits_of(const Case& test);

// Whether the language accepts the program and the schedule's decompositions.
bool can_prepare(const Case& test);

}  // namespace tulle::differential
