// Outlines of kernels.
#include "loop/outline.h"

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/print.h"

namespace tulle::loop {
namespace {

std::string outlined(const char* text) { return to_string(outline(parse_kernel(text))); }
std::string printed(const char* text) { return to_string(parse_kernel(text)); }

TEST(Outline, KeepsTheParallelLoopAndWhatItsBoundsUse) {
  EXPECT_EQ(outlined("kernel k(A: f32*, C: mut f32*; n: i64) { let rows: i64 = n / 4\n"
                     "parallel for i in [0, rows) by 2 { let at: i64 = i * 4\n"
                     "for j in [0, 4) { C[at + j] = A[at + j] } } }"),
            printed("kernel k(A: f32*, C: mut f32*; n: i64) { let rows: i64 = n / 4\n"
                    "parallel for i in [0, rows) by 2 { } }"));
}

TEST(Outline, KeepsWhatIsBoundToAGpuAndSharedMemory) {
  EXPECT_EQ(
      outlined("kernel k(A: f32*, C: mut f32*; n: i64) { block for b in [0, n) {\n"
               "s = alloc shared f32[64]\n t = alloc local f32[4]\n"
               "for p in [0, 2) { warp for w in [0, 8) { lane for l in [0, 32) {\n"
               "s[l] = A[b * 32 + l]\n } } }\n barrier(block)\n"
               "if (b < 3) { lane for m in [0, 32) { C[b * 32 + m] = s[m] } } } }"),
      printed(
          "kernel k(A: f32*, C: mut f32*; n: i64) { block for b in [0, n) {\n"
          "s = alloc shared f32[64]\n"
          "warp for w in [0, 8) { lane for l in [0, 32) { } }\n lane for m in [0, 32) { } } }"));
}

TEST(Outline, KeepsNothingOfASerialKernel) {
  EXPECT_EQ(outlined("kernel k(C: mut f32*; n: i64) { var i: i64 = 0\n"
                     "while (i < n) { C[i] = 1.0f\n i = i + 1 } }"),
            printed("kernel k(C: mut f32*; n: i64) { }"));
}

}  // namespace
}  // namespace tulle::loop
