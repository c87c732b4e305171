// Accumulates results of half types in f32 if partial sums would be rounded.
#pragma once

#include <optional>
#include <string>

#include "schedule/schedule.h"

namespace tulle::plan {

// The nest with the accumulation type for its result.
nest::Nest with_wide_result(const nest::Nest& nest, const std::string& result);

// The name of the tensor that accumulates such a result.
std::string wide_name(const std::string& result);

// Whether the result has a half type and each added term would round it. Throws a UserError if the
// schedule is refused.
bool rounds_sums(const nest::Nest& nest, const std::string& result,
                 const schedule::Schedule& schedule);
// The same. Returns nothing if the schedule is refused.
std::optional<bool> rounds_sums_if_legal(const nest::Nest& nest, const std::string& result,
                                         const schedule::Schedule& schedule);

// Renames a tensor in the schedule.
schedule::Schedule with_renamed(schedule::Schedule schedule, const std::string& tensor,
                                const std::string& name);

}  // namespace tulle::plan
