// The driver: messages without a driver and for a missing GPU.
#include <gtest/gtest.h>

#include "support/cuda_gpu.h"
#include "tulle/error.h"

namespace tulle::cuda {
namespace {

// The message for GPU number 99.
std::string refusal() {
  try {
    gpu(99);
    return {};
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(CudaDriver, SaysWhatIsMissing) {
  const std::string said = refusal();
  const bool names_it = said.find("no NVIDIA driver") != std::string::npos ||
                        said.find("does not start") != std::string::npos ||
                        said.find("no GPU number 99") != std::string::npos;
  EXPECT_TRUE(names_it) << said;
}

TEST(CudaDriver, SaysTheSameWhenAskedAgain) {
  const std::string first = refusal();
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(refusal(), first);
}

TEST(CudaDriver, ArchitecturesThatCodeIsGeneratedFor) {
  Gpu device;
  device.capability = 80;
  EXPECT_EQ(device.architecture(), "sm_80");
  device.capability = 89;
  EXPECT_EQ(device.architecture(), "sm_80");
  device.capability = 90;
  EXPECT_EQ(device.architecture(), "sm_90");
  device.capability = 120;
  EXPECT_EQ(device.architecture(), "sm_90");
}

}  // namespace
}  // namespace tulle::cuda
