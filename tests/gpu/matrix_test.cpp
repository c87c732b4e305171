// The matrix on a GPU: every operation in a sample of formats, conditions and types, or in all of
// them with TULLE_TEST_FULL=1. matrix_run.h describes slices.
#include <cstdlib>

#include <gtest/gtest.h>

#include "differential/matrix_run.h"

namespace tulle::differential {
namespace {

class GpuMatrix : public testing::TestWithParam<Operation> {};

TEST_P(GpuMatrix, EveryCellIsRight) {
  const bool all = std::getenv("TULLE_TEST_FULL") != nullptr;
  expect_right(GetParam().name, cells(GetParam(), all), kOnGpu);
}

INSTANTIATE_TEST_SUITE_P(Operations, GpuMatrix, testing::ValuesIn(operations()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
