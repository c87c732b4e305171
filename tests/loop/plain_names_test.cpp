// Kernels that differ in names alone.
#include "loop/plain_names.h"

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/print.h"

namespace tulle::loop {
namespace {

std::string plain(const char* text) { return to_string(with_plain_names(parse_kernel(text))); }

TEST(PlainNames, ParametersAreCalledByTheirPlace) {
  const std::string one = plain(
      "kernel scan1(A: f32*, B: mut f32*; n: i64) { t = alloc local f32[4]\n t[0] = A[n]\n"
      "B[0] = t[0]\n atomic_add(B[n], A[0]) }");
  const std::string other = plain(
      "kernel scan22(X: f32*, Y: mut f32*; m: i64) { t = alloc local f32[4]\n t[0] = X[m]\n"
      "Y[0] = t[0]\n atomic_add(Y[m], X[0]) }");
  EXPECT_EQ(one, other);
  EXPECT_NE(one.find("kernel scan("), std::string::npos) << one;
  EXPECT_NE(one.find("t[0]"), std::string::npos) << one;
}

TEST(PlainNames, WhatDiffersInMoreStaysDifferent) {
  EXPECT_NE(plain("kernel k(A: f32*, B: mut f32*) { B[0] = A[1] }"),
            plain("kernel k(A: f32*, B: mut f32*) { B[1] = A[0] }"));
  EXPECT_NE(plain("kernel k(A: f32*, B: mut f32*) { B[0] = A[1] }"),
            plain("kernel k(A: i32*, B: mut i32*) { B[0] = A[1] }"));
}

}  // namespace
}  // namespace tulle::loop
