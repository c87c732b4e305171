// Tests the reported code size of GPU programs.
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include "tulle/tulle.h"

namespace tulle {
namespace {

constexpr Device kFirst{Device::Kind::Cuda, 0};

TEST(Code, IsCountedWhenGoodCodeTakesThePlaceOfLight) {
  const char* background = std::getenv("TULLE_BACKGROUND");
  if (background && std::string_view(background) == "0") GTEST_SKIP() << "all code is good code";
  const auto program = Program::from_notation(
      "Z[i,j] = X[i,j] * 17.25 + 0.75", {{"X", "dense", DType::Float32, DType::Int32, 2, {}}});
  constexpr int64_t rows = 5, columns = 12;
  CudaMemory memory(kFirst, nullptr);
  const std::vector<float> values(rows * columns, 2);
  void* there = memory.allocate(DType::Float32, rows * columns, false).data;
  memory.copy_to_device(there, values.data(), rows * columns * size_of(DType::Float32));
  RunOptions options;
  options.device = kFirst;
  program->run({{{rows, columns}, {{}, {}}, {there, rows * columns}}}, memory, options);
  const int64_t light = program->code_bytes();
  EXPECT_GT(light, 0);
  finish_compiling();
  EXPECT_GT(program->code_bytes(), light);
}

}  // namespace
}  // namespace tulle
