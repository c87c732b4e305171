// Accumulates results of half types in f32 where partial sums would be rounded.
#pragma once

#include <optional>
#include <string>

#include "schedule/schedule.h"

namespace tulle::plan {

// The nest with the result in the type that its values are computed in.
nest::Nest with_wide_result(const nest::Nest& nest, const std::string& result);

// The name of the tensor that such a result is accumulated in first.
std::string wide_name(const std::string& result);

// Whether the result has a half type and would be rounded with each term that is added to it.
// UserError where the schedule is refused.
bool rounds_sums(const nest::Nest& nest, const std::string& result,
                 const schedule::Schedule& schedule);
// The same, and nothing where the schedule is refused.
std::optional<bool> rounds_sums_if_legal(const nest::Nest& nest, const std::string& result,
                                         const schedule::Schedule& schedule);

// The schedule with another name for a tensor.
schedule::Schedule with_renamed(schedule::Schedule schedule, const std::string& tensor,
                                const std::string& name);

}  // namespace tulle::plan
