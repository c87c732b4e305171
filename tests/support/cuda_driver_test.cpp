// The driver: what is said where there is none, or no such GPU.
#include <gtest/gtest.h>

#include "support/cuda_device.h"
#include "tulle/error.h"

namespace tulle::cuda {
namespace {

bool has_driver() {
  try {
    driver();
    return true;
  } catch (const UserError&) {
    return false;
  }
}

TEST(CudaDriver, SaysWhatIsMissing) {
  try {
    device(99);
    FAIL();
  } catch (const UserError& error) {
    const std::string said = error.what();
    const bool names_it = said.find("no NVIDIA driver") != std::string::npos ||
                          said.find("does not start") != std::string::npos ||
                          said.find("no GPU number 99") != std::string::npos;
    EXPECT_TRUE(names_it) << said;
  }
}

TEST(CudaDriver, TriesAgain) { EXPECT_EQ(has_driver(), has_driver()); }

TEST(CudaDriver, ArchitecturesThatCodeIsGeneratedFor) {
  Device device;
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
