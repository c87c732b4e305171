// A case made ready to run: its data, its program resolved, and the request to compile it.
#pragma once

#include "differential/differential.h"
#include "driver/compile.h"
#include "driver/machine.h"
#include "loop/interpret.h"
#include "tulle/tulle.h"

namespace tulle::differential {

struct Prepared {
  // UserError where the case breaks a rule of the language.
  explicit Prepared(const Case& test);
  Prepared(const Prepared&) = delete;  // the request points into it
  Prepared& operator=(const Prepared&) = delete;

  std::vector<TensorSpec> given;                        // the case's operands
  std::vector<std::vector<expr::StoredTensor>> stored;  // each, or the parts of a composite one
  // As kernels see them: those in composite formats, and those that the schedule takes apart, as
  // their parts.
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

// Whether the language takes the program and what its schedule takes apart.
bool can_prepare(const Case& test);

}  // namespace tulle::differential
