// The matrix on a GPU: every operation in a sample of formats, conditions and types, or in all of
// them with TULLE_TEST_FULL=1; TULLE_TEST_SLICE=2/8 runs the second of eight slices.
#include <cstdlib>

#include <gtest/gtest.h>

#include "differential/matrix_run.h"
#include "support/check.h"

namespace tulle::differential {
namespace {

// The cells of the slice that is asked for.
std::vector<Case> sliced(std::vector<Case> cells) {
  const char* text = std::getenv("TULLE_TEST_SLICE");
  if (!text) return cells;
  char* end = nullptr;
  const long which = std::strtol(text, &end, 10);
  const long slices = *end == '/' ? std::strtol(end + 1, &end, 10) : 0;
  if (*end != 0 || which < 1 || which > slices)
    user_error("TULLE_TEST_SLICE=", text, " is not understood: 2/8 is the second of eight");
  std::vector<Case> found;
  for (size_t at = static_cast<size_t>(which - 1); at < cells.size();
       at += static_cast<size_t>(slices))
    found.push_back(std::move(cells[at]));
  return found;
}

class GpuMatrix : public testing::TestWithParam<Operation> {};

TEST_P(GpuMatrix, EveryCellIsRight) {
  const bool all = std::getenv("TULLE_TEST_FULL") != nullptr;
  expect_right(GetParam().name, sliced(cells(GetParam(), all)), kOnGpu);
}

INSTANTIATE_TEST_SUITE_P(Operations, GpuMatrix, testing::ValuesIn(operations()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
