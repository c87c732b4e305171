// BLAKE3, as LLVM brings it.
#include "jit/content_hash.h"

#include <algorithm>

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
