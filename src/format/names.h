// Named formats: the format of a name at each rank, and the name of a format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"

namespace tulle {

// The format `name(arguments...)` for a tensor of that rank; nothing if there is no such name.
// Throws UserError if the rank or the arguments do not fit the name.
std::optional<Format> format_named(std::string_view name, const std::vector<int64_t>& arguments,
                                   int rank);

// The names that format_named() accepts, for messages: "dense, coo, csr, ...".
std::string format_names();

// The name with which format_named() returns this storage, if it has one.
std::optional<std::string> name_of(const Format& format);

// i, j, k, ...: default names of dimensions.
std::vector<std::string> default_dimension_names(int rank);

}  // namespace tulle
