// The kind of processor for which Tulle compiles code. A caller's processor is a Device
// (tulle/resources.h).
#pragma once

#include <cstdint>

namespace tulle {

enum class Backend : uint8_t { Cpu, Gpu };

constexpr bool is_gpu(Backend backend) { return backend == Backend::Gpu; }

}  // namespace tulle
