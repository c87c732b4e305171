// Checks that are always enabled, and concatenation of messages.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "tulle/error.h"

namespace tulle {

// Appends text and integers without a stream, because the compiler builds thousands of names per
// program.
template <typename Part>
void append_to(std::string& text, const Part& part) {
  if constexpr (std::is_same_v<Part, char>) {
    text += part;
  } else if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    text += std::string_view(part);
  } else if constexpr (std::is_integral_v<Part> && sizeof(Part) >= sizeof(int)) {
    text += std::to_string(part);
  } else {
    std::ostringstream out;
    out << part;
    text += out.str();
  }
}

// Concatenates the parts: concat("row ", 3, " of ", name).
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (append_to(text, parts), ...);
  return text;
}

template <typename... Parts>
[[noreturn]] void user_error(const Parts&... parts) {
  throw UserError(concat(parts...));
}

template <typename... Parts>
[[noreturn]] void unsupported(const Parts&... parts) {
  throw Unsupported(concat(parts...));
}

template <typename... Parts>
[[noreturn]] void internal_error(const Parts&... parts) {
  throw InternalError(concat(parts...));
}

}  // namespace tulle

// Checks an internal invariant. The message continues the text of the condition.
#define TULLE_CHECK(condition, ...)                                                       \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      ::tulle::internal_error(__FILE__, ":", __LINE__,                                    \
                              ": expected " #condition __VA_OPT__(, ": ", ) __VA_ARGS__); \
    }                                                                                     \
  } while (false)
