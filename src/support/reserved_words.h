// The keywords of the loop IR, which cannot be names.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tulle {

inline bool is_reserved_word(std::string_view word) {
  constexpr std::string_view words[] = {"let",   "var",         "for",   "while", "if",
                                        "else",  "true",        "false", "inf",   "nan",
                                        "alloc", "nontemporal", "read"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace tulle
