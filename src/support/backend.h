// The kind of processor that code is compiled for. Device (tulle/resources.h) is a device of a
// caller.
#pragma once

#include <cstdint>

namespace tulle {

enum class Backend : uint8_t { Cpu, Gpu };

constexpr bool is_gpu(Backend backend) { return backend == Backend::Gpu; }

}  // namespace tulle
