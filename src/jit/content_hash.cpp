// BLAKE3, as bundled with LLVM.
#include "jit/content_hash.h"

#include <algorithm>
#include <charconv>

#include "llvm/Support/BLAKE3.h"

namespace tulle::jit {

std::string ContentHash::hex() const {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<ContentHash> ContentHash::from_hex(std::string_view hex) {
  ContentHash hash;
  if (hex.size() != 2 * hash.bytes.size()) return std::nullopt;
  for (size_t at = 0; at < hash.bytes.size(); ++at) {
    const char* begin = hex.data() + 2 * at;
    if (std::from_chars(begin, begin + 2, hash.bytes[at], 16).ptr != begin + 2) return std::nullopt;
  }
  return hash;
}

std::string_view ContentHash::view() const {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ContentHash hash_of(std::initializer_list<std::string_view> parts) {
  llvm::BLAKE3 hasher;
  for (const std::string_view part : parts) {
    const uint64_t length = part.size();
    hasher.update({reinterpret_cast<const uint8_t*>(&length), sizeof length});
    hasher.update({reinterpret_cast<const uint8_t*>(part.data()), part.size()});
  }
  ContentHash hash;
  const auto bytes = hasher.final<sizeof(hash.bytes)>();
  std::copy(bytes.begin(), bytes.end(), hash.bytes.begin());
  return hash;
}

}  // namespace tulle::jit
