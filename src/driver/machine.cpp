// Queries the machine.
#include "driver/machine.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "support/check.h"

namespace tulle {

namespace {

// The size of the first processor's cache of that level, in bytes. 0 if the system does not report
// it. sysconf would count the last level of the whole socket.
int64_t cache_size(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = concat("/sys/devices/system/cpu/cpu0/cache/index", index, "/");
    std::ifstream level_file(folder + "level"), type_file(folder + "type"),
        size_file(folder + "size");
    int found = 0;
    int64_t kilobytes = 0;
    std::string type;
    if (!(level_file >> found) || !(type_file >> type) || !(size_file >> kilobytes)) continue;
    if (found == level && type != "Instruction") return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

plan::Machine describe_machine(std::string_view features_preset, int threads) {
  plan::Machine machine;
  machine.threads = threads;
  static const int64_t second = cache_size(2), last = cache_size(3);
  if (second > 0) machine.second_cache = second;
  machine.last_cache = std::max<int64_t>(last, machine.second_cache);
  const bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  const bool has_256 = __builtin_cpu_supports("avx2");
  machine.vector_bytes = has_512 ? 64 : has_256 ? 32 : 16;
  if (!features_preset.empty()) {
    machine.vector_bytes =
        std::min(machine.vector_bytes, codegen::vector_bytes_of(features_preset));
  }
  return machine;
}

namespace {

constexpr int kThreadsOfMultiprocessor = 1024;  // with kernels that use many registers

}  // namespace

plan::Machine describe_gpu(const cuda::Gpu& device, const GpuLimits& limits) {
  plan::Machine machine;
  machine.backend = Backend::Gpu;
  machine.multiprocessors = device.multiprocessors;
  machine.threads = device.multiprocessors * kThreadsOfMultiprocessor;
  machine.vector_bytes = 16;  // of one access of a thread
  machine.second_cache = machine.last_cache = device.second_cache;
  if (limits.many_entries > 0) machine.many_entries = limits.many_entries;
  if (limits.last_cache > 0) machine.last_cache = limits.last_cache;
  if (limits.multiprocessors > 0) machine.multiprocessors = limits.multiprocessors;
  if (limits.threads > 0) machine.threads = limits.threads;
  return machine;
}

void set_machine(const Device& device, const std::string& features, int threads,
                 CompileRequest& request) {
  request.host_threads = threads;
  if (device.is_cuda()) {
    const cuda::Gpu& gpu = cuda::gpu(device.ordinal);
    request.plan.machine = describe_gpu(gpu, request.limits.gpu);
    request.target = codegen::gpu_target(gpu.architecture());
    request.device = device.ordinal;
    return;
  }
  request.plan.machine = describe_machine(features, threads);
  request.target = features.empty() ? codegen::host_target() : codegen::host_target(features);
  request.target.light = request.limits.light_code;
}

}  // namespace tulle
