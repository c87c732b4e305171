// Checks dense results against the limit before allocation.
#include "dense_limit.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "tulle/error.h"
#include "tulle/type_names.h"

namespace tulle::shim {

namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
// For results up to this size, the free memory is not queried.
constexpr int64_t kSmall = int64_t{64} << 20;

std::atomic<int64_t> chosen_limit = -1;

int64_t free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  int64_t kilobytes = 0;
  std::string unit;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") return kilobytes * 1024;
    std::getline(file, unit);
  }
  return kUnlimited;
}

// Saturates on overflow.
int64_t bytes_of(DType type, std::span<const int64_t> sizes) {
  int64_t bytes = size_of(type);
  for (const int64_t size : sizes) {
    if (size == 0) return 0;
    if (__builtin_mul_overflow(bytes, size, &bytes)) bytes = kUnlimited;
  }
  return bytes;
}

// "192 bytes", "3145728 bytes (3.0 MiB)"
std::string text_of(int64_t bytes) {
  if (bytes == kUnlimited) return "more than 8 EiB";
  const std::string text = std::to_string(bytes) + " bytes";
  if (bytes < 1024) return text;
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  int64_t whole = bytes;
  for (; whole >= int64_t{1} << 20 && unit + 1 < std::size(kUnits); whole /= 1024) ++unit;
  const int64_t tenths = whole % 1024 * 10 / 1024;
  return text + " (" + std::to_string(whole / 1024) + "." + std::to_string(tenths) + " " +
         kUnits[unit] + ")";
}

}  // namespace

void set_dense_limit(int64_t bytes) { chosen_limit = bytes; }

void check_dense_limit(const TensorLayout& result, bool is_only, std::span<const int64_t> sizes,
                       const Device& device) {
  const int64_t chosen = chosen_limit;
  if (chosen < 0 && device.is_cuda()) return;
  const int64_t bytes = bytes_of(result.spec.type, sizes);
  if (bytes <= (chosen < 0 ? kSmall : chosen)) return;
  const int64_t limit = chosen < 0 ? free_memory() / 2 : chosen;
  if (bytes <= limit) return;
  std::string shape;
  for (const int64_t size : sizes) shape += (shape.empty() ? "" : " x ") + std::to_string(size);
  const std::string type(long_name_of(result.spec.type));
  const std::string name = is_only ? "" : " '" + result.spec.name + "'";
  throw UserError("The dense result" + name + " of " + shape + " " + type + " needs " +
                  text_of(bytes) + ", but the limit for dense results is " + text_of(limit) +
                  (chosen < 0 ? ", half of the free memory" : "") + ". " +
                  (result.is_asked_for
                       ? "Ask for a sparse format instead"
                       : "Ask for a sparse format with out_format=, which tulle.einsum and "
                         "tulle.compute take") +
                  ", or raise the limit with tulle.set_dense_limit().");
}

}  // namespace tulle::shim
