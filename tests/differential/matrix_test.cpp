// Runs the matrix: a sample of it, all of it with TULLE_TEST_FULL=1.
#include <cstdlib>

#include <gtest/gtest.h>

#include "differential/matrix_run.h"

namespace tulle::differential {
namespace {

class Matrix : public testing::TestWithParam<Operation> {};

TEST_P(Matrix, EveryCellIsRight) {
  const bool all = std::getenv("TULLE_TEST_FULL") != nullptr;
  expect_right(GetParam().name, cells(GetParam(), all), kBoth);
}

INSTANTIATE_TEST_SUITE_P(Operations, Matrix, testing::ValuesIn(operations()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
