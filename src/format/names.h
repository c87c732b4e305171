// The formats that have names: what each name means at each rank, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"

namespace tulle {

// `name(arguments...)` for a tensor of that rank; nothing where no format has that name. UserError
// where the name does not go with the rank or the arguments.
std::optional<Format> format_named(std::string_view name, const std::vector<int64_t>& arguments,
                                   int rank);

// The names that format_named knows, for messages: "dense, coo, csr, ...".
std::string format_names();

// The name under which format_named gives this storage, if it has one.
std::optional<std::string> name_of(const Format& format);

// i, j, k, ... for the dimensions of a tensor that nobody named.
std::vector<std::string> default_dimension_names(int rank);

}  // namespace tulle
