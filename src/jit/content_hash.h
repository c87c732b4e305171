// Collision-resistant hashes of content.
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
  static std::optional<ContentHash> from_hex(std::string_view hex);  // parses the result of hex()
  std::string_view view() const;                                     // the bytes
  auto operator<=>(const ContentHash&) const = default;
};

// The hash of all parts in order. The boundaries between parts count.
ContentHash hash_of(std::initializer_list<std::string_view> parts);

}  // namespace tulle::jit
