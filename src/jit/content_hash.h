// Hashes of content, strong enough to stand for it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace tulle::jit {

struct ContentHash {
  std::array<uint8_t, 20> bytes{};

  std::string hex() const;
  static std::optional<ContentHash> from_hex(std::string_view hex);  // what hex() wrote
  std::string_view view() const;                                     // the bytes
  auto operator<=>(const ContentHash&) const = default;
};

// Of all parts in order; where one ends and the next begins counts too.
ContentHash hash_of(std::initializer_list<std::string_view> parts);

}  // namespace tulle::jit
