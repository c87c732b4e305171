// The names that the compiler makes.
#pragma once

#include <string_view>

namespace tulle {

// The compiler derives names from those of tensors, indices and kernels by a dot and more: A.pos1,
// C.acc, i.extent. Index notation has no dots in names, so that none of them equals a user's name.
// Two derived names are equal only if their parts are: a part that is a user's name follows a part
// that is not, as in j.minus.i. Local variables of kernels need no dots, because each kernel gives
// them fresh names (loop/fresh_names.h).
inline bool is_made_name(std::string_view name) { return name.find('.') != std::string_view::npos; }

// The user's name from which the name was derived; the name itself if it was not.
inline std::string_view name_before_dots(std::string_view name) {
  return name.substr(0, name.find('.'));
}

}  // namespace tulle
