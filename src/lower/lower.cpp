// Builds the steps that compute a nest.
#include "lower/lower.h"

#include "lower/programs/known_structure.h"
#include "lower/programs/new_structure.h"
#include "nest/bound_loops.h"

namespace tulle::lower {

std::string kernel_name(const nest::Nest& nest) { return "compute_" + find_result(nest).name; }

void lower_nest(const nest::Nest& nest, const Options& options, loop::HostProgram& program,
                bool shares_result) {
  const ResultInfo result = find_result(nest);
  const bool is_known = result.format().is_dense() || !result.tensor->shares_pattern_of.empty();
  Options where = options;
  if (nest::has_bound_loops(nest.root)) where.backend = Backend::Gpu;
  if (is_known) {
    const bool is_shared = shares_result || nest::adds_up_by_atomics(nest);
    lower_known_structure(nest, result, where, is_shared, program);
  } else {
    lower_new_structure(nest, result, where, program);
  }
}

}  // namespace tulle::lower
