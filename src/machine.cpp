// Reading off the machine.
#include "machine.h"

#include <unistd.h>

#include <algorithm>

namespace tulle {

plan::Machine describe_machine(std::string_view features_preset, int threads) {
  plan::Machine machine;
  machine.threads = threads;
  const long second = sysconf(_SC_LEVEL2_CACHE_SIZE), last = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (second > 0) machine.second_cache = second;
  machine.last_cache = std::max<int64_t>(last, machine.second_cache);
  const bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  const bool has_256 = __builtin_cpu_supports("avx2");
  if (features_preset == "sse4.2" || !has_256) {
    machine.vector_bytes = 16;
  } else if (features_preset == "avx2" || !has_512) {
    machine.vector_bytes = 32;
  }
  return machine;
}

}  // namespace tulle
