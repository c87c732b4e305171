// Checks that are always on, and a one-line way to build messages.
#pragma once

#include <sstream>
#include <string>

#include "tulle/error.h"

namespace tulle {

// Writes every part after the other: concat("row ", 3, " of ", name).
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
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

// An invariant of ours; the message continues the condition's text.
#define TULLE_CHECK(condition, ...)                                                       \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      ::tulle::internal_error(__FILE__, ":", __LINE__,                                    \
                              ": expected " #condition __VA_OPT__(, ": ", ) __VA_ARGS__); \
    }                                                                                     \
  } while (false)
