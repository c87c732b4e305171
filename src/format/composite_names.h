// The composite formats that have names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tulle {

// Whether a composite format has that name.
bool is_composite_name(std::string_view name);

// What `name(arguments...)` stands for, as text. UserError where the arguments do not go with it.
std::string composite_named(std::string_view name, const std::vector<int64_t>& arguments);

// The name that stands for this text, if there is one.
std::optional<std::string> composite_name_of(std::string_view text, int rank);

// "hyb(c,k), ...", for messages.
std::string composite_names();

}  // namespace tulle
