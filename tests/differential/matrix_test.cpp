// Runs a sample of the matrix, or all of it with TULLE_TEST_FULL=1.
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "differential/matrix_run.h"

namespace tulle::differential {
namespace {

class Matrix : public testing::TestWithParam<Operation> {};

TEST_P(Matrix, EveryCellIsRight) {
  const bool all = std::getenv("TULLE_TEST_FULL") != nullptr;
  expect_right(GetParam().name, cells(GetParam(), all), kBoth);
}

// The choice of the empty index must not depend on the choice of light code, for any number of
// indices.
TEST(MatrixCells, EveryIndexIsEmptyInLightCodeAndInOther) {
  for (const Operation& operation : operations()) {
    std::set<char> indices;
    std::set<std::pair<char, bool>> empty;
    for (const Case& test : cells(operation, true)) {
      for (size_t o = 0; o < test.operands.size(); ++o) {
        const std::string& text = operation.operands[o];  // T[i,j,k]
        for (size_t d = 0; d < test.operands[o].sizes.size(); ++d) {
          const char index = text[text.find('[') + 1 + 2 * d];
          indices.insert(index);
          if (test.operands[o].sizes[d] == 0) empty.insert({index, test.light});
        }
      }
    }
    EXPECT_EQ(empty.size(), 2 * indices.size()) << operation.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, Matrix, testing::ValuesIn(operations()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
