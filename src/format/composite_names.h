// The composite formats that have names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle {

// Whether that is the name of a composite format.
bool is_composite_name(std::string_view name);

// The text that `name(arguments...)` stands for. Throws UserError if the arguments are invalid.
std::string composite_named(std::string_view name, const std::vector<int64_t>& arguments);

// The name of the format with this text, if it has one.
std::optional<std::string> composite_name_of(std::string_view text, int rank);

// "hyb(c,k), ...", for messages.
std::string composite_names();

}  // namespace tulle
