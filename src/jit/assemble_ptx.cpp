// The driver's linker and its log.
#include "jit/assemble_ptx.h"

#include <array>
#include <cstdint>

#include "support/check.h"

namespace tulle::jit {

namespace {

// The values of CUjit_option and CUjitInputType.
enum Option : int { kErrorLog = 5, kErrorLogSize = 6, kOptimisationLevel = 7 };
constexpr uintptr_t kLowestLevel = 0, kHighestLevel = 4;
constexpr int kPtx = 1;

// One use of the linker, which owns the image that it creates.
class Linking {
 public:
  explicit Linking(bool light) {
    std::array<int, 3> options{kErrorLog, kErrorLogSize, kOptimisationLevel};
    std::array<void*, 3> values{log_.data(), reinterpret_cast<void*>(log_.size()),
                                reinterpret_cast<void*>(light ? kLowestLevel : kHighestLevel)};
    cuda::check(cuda::driver().create_linker(static_cast<unsigned>(options.size()), options.data(),
                                             values.data(), &linker_),
                "starting the assembler");
  }
  ~Linking() { cuda::driver().destroy_linker(linker_); }
  Linking(const Linking&) = delete;
  Linking& operator=(const Linking&) = delete;

  std::vector<char> image_of(const cuda::Gpu& device, const std::string& ptx) {
    const cuda::Driver& calls = cuda::driver();
    void* image = nullptr;
    size_t bytes = 0;
    // Includes the terminating zero of the text.
    cuda::Status status =
        calls.link_data(linker_, kPtx, ptx.c_str(), ptx.size() + 1, "kernels", 0, nullptr, nullptr);
    if (status == 0) status = calls.finish_linking(linker_, &image, &bytes);
    if (status != 0 && log_[0] != 0) {
      internal_error("the NVIDIA driver failed to assemble the kernels for ", device.name, ":\n",
                     log_.data());
    }
    cuda::check(status, "assembling kernels");
    const auto* begin = static_cast<const char*>(image);
    return {begin, begin + bytes};
  }

 private:
  std::array<char, 8192> log_{};
  cuda::Linker linker_ = nullptr;
};

}  // namespace

std::vector<char> assemble_ptx(const cuda::Gpu& device, const std::string& ptx, bool light) {
  const cuda::CurrentGpu current(device);
  return Linking(light).image_of(device, ptx);
}

std::string assembler_of(const cuda::Gpu& device) {
  int version = 0;  // 1000 * major + 10 * minor of CUDA, not of the driver
  cuda::check(cuda::driver().version(&version), "querying the CUDA version of the driver");
  return concat("driver ", version, ", capability ", device.capability);
}

}  // namespace tulle::jit
