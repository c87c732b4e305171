// In checked mode, generated code reports out-of-bounds accesses instead of making them.
#include <array>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "tulle/tulle.h"

namespace tulle {
namespace {

class PlainMemory final : public Memory {
 public:
  Block allocate(DType type, int64_t length, bool zeroed) override {
    (void)zeroed;
    blocks_.emplace_back(static_cast<size_t>(length * size_of(type)) / sizeof(Line) + 1);
    return {blocks_.back().data(), nullptr};
  }

 private:
  struct alignas(64) Line {
    std::array<char, 64> bytes;
  };
  std::deque<std::vector<Line>> blocks_;
};

// Multiplies a 2 x 3 CSR matrix, with one entry per row and the second one in `column`, by a
// vector.
std::vector<ResultTensor> multiply(int32_t column, bool checked, Memory& memory) {
  static const std::array<int32_t, 3> pos{0, 1, 2};
  static std::array<int32_t, 2> crd{};
  static const std::array<float, 2> values{2, 3};
  static const std::array<float, 3> x{1, 10, 100};
  crd = {0, column};
  ProgramOptions options;
  options.checked = checked;
  const auto program = Program::from_notation("y[i] = A[i,j] * x[j]",
                                              {{"A", "csr", DType::Float32, DType::Int32, 2, {}},
                                               {"x", "dense", DType::Float32, DType::Int32, 1, {}}},
                                              options);
  const TensorView a{{2, 3}, {{}, {{pos.data(), 3}, {crd.data(), 2}}}, {values.data(), 2}};
  const TensorView vector{{3}, {{}}, {x.data(), 3}};
  return program->run({a, vector}, memory);
}

TEST(CheckedMode, ComputesAsUsual) {
  PlainMemory memory;
  const auto results = multiply(2, true, memory);
  const auto* y = static_cast<const float*>(results[0].values.data);
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(y[1], 300);
}

TEST(CheckedMode, ReportsAPlantedAccessOutOfBounds) {
  PlainMemory memory;
  try {
    multiply(7, true, memory);
    FAIL() << "the access was not reported";
  } catch (const InternalError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("x"), std::string::npos) << message;
    EXPECT_NE(message.find("7"), std::string::npos) << message;
    EXPECT_NE(message.find("3"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace tulle
