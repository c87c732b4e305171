// The machine for which code is generated.
#pragma once

#include <string>
#include <string_view>

namespace tulle::codegen {

// In LLVM's terms. Every field belongs in the key of any cache of generated code.
struct Target {
  std::string triple;
  std::string cpu;
  std::string features;  // "+avx2,-avx512f"; beside the features of the cpu
  bool light = false;    // generate code quickly, barely optimised

  bool operator==(const Target&) const = default;
};

// The host with all its features.
Target host_target();

// An x86 machine with a preset of features: "sse4.2", "avx2" or "avx512". The host need not have
// them. Raises a UserError for another name.
Target preset_target(std::string_view preset);
int vector_bytes_of(std::string_view preset);
bool host_has(std::string_view preset);

// The host restricted to a preset, for tests and for object files that must run on older machines.
// Raises a UserError for another name or if the host lacks the preset.
Target host_target(std::string_view preset);

// A GPU by its architecture: "sm_80" or "sm_90". Its code also runs on all later architectures.
// Raises a UserError for another name.
Target gpu_target(std::string_view architecture);
bool is_gpu(const Target& target);
inline bool is_light_gpu(const Target& target) { return is_gpu(target) && target.light; }

}  // namespace tulle::codegen
