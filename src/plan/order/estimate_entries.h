// Estimates how many entries the result of a statement has.
#pragma once

#include <map>
#include <string>

#include "expr/program.h"
#include "plan/order/estimates.h"

namespace tulle::plan {

// The number of coordinates at which the statement has a value, from the entries of its operands.
// Operands whose indices are the same count as overlapping, others as independent.
double estimate_entries(const expr::Statement& statement,
                        const std::map<std::string, expr::TensorType>& tensors,
                        Estimates& estimates);

}  // namespace tulle::plan
