// The machine that code is generated for.
#pragma once

#include <string>
#include <string_view>

namespace tulle::codegen {

// In LLVM's words. All of it belongs into the key of whatever caches generated code.
struct Target {
  std::string triple;
  std::string cpu;
  std::string features;  // "+avx2,-avx512f"; adds to what the cpu has
  bool light = false;    // the back end takes few pains: soon ready, slow code

  bool operator==(const Target&) const = default;
};

// Whether code for the host is to be light, on this thread: for tests that compile very much.
bool& light_code();

// The machine this runs on, with everything it has.
Target host_target();

// The host restricted to a preset, for tests and for objects that older machines must run:
// "sse4.2", "avx2" or "avx512". Raises a UserError for another name and if the host lacks the
// preset.
Target host_target(std::string_view preset);

// A GPU, by its architecture: "sm_80" or "sm_90", whose code runs on all later ones too. A
// UserError for another name.
Target gpu_target(std::string_view architecture);
bool is_gpu(const Target& target);
inline bool is_light_gpu(const Target& target) { return is_gpu(target) && target.light; }

}  // namespace tulle::codegen
