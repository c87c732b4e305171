// Kernels that differ only in names.
#include "loop/plain_names.h"

#include <map>

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/print.h"

namespace tulle::loop {
namespace {

std::string plain(const char* text) { return to_string(with_plain_names(parse_kernel(text))); }

TEST(PlainNames, AllNamesAreCalledByTheirPlace) {
  const std::string one = plain(
      "kernel scan1(A: f32*, B: mut f32*; n: i64) { t = alloc local f32[4]\n t[0] = A[n]\n"
      "B[0] = t[0]\n atomic_add(B[n], A[0]) }");
  const std::string other = plain(
      "kernel scan22(X: f32*, Y: mut f32*; m: i64) { s = alloc local f32[4]\n s[0] = X[m]\n"
      "Y[0] = s[0]\n atomic_add(Y[m], X[0]) }");
  EXPECT_EQ(one, other);
  EXPECT_NE(one.find("kernel scan("), std::string::npos) << one;
}

TEST(PlainNames, SoAreVariables) {
  const char* const shapes[] = {
      "kernel k(P: f32*, Q: mut f32*; n: i64) { let $a: i64 = n + 1\n var $b: i64 = 0\n"
      "for $c in [0, $a) { $b = $b + $c\n Q[$c] = P[$b] } }",
      "kernel k(P: f32*, Q: mut i64*; n: i64) { for $a in [0, n) { let $b: i64 = $a * 2\n"
      "let $c: i64 = atomic_add(Q[$b], 1)\n Q[$c] = $a } }"};
  for (const std::string shape : shapes) {
    const auto with = [&](const std::map<char, std::string>& names) {
      std::string text;
      for (size_t at = 0; at < shape.size(); ++at) {
        text += shape[at] == '$' ? names.at(shape[++at]) : std::string(1, shape[at]);
      }
      return plain(text.c_str());
    };
    const std::string one = with({{'a', "rows"}, {'b', "sum"}, {'c', "i"}});
    EXPECT_EQ(one, with({{'a', "x"}, {'b', "w"}, {'c', "v"}}));
    EXPECT_EQ(one, with({{'a', "local2"}, {'b', "local0"}, {'c', "local1"}}));
  }
}

TEST(PlainNames, OfTheKernelItsFirstWordIsLeft) {
  const std::string one = plain("kernel fill_C(A: mut f32*) { A[0] = A[1] }");
  EXPECT_EQ(one, plain("kernel fill_A_as0_entries(B: mut f32*) { B[0] = B[1] }"));
  EXPECT_NE(one.find("kernel fill("), std::string::npos) << one;
  EXPECT_NE(one, plain("kernel count_C(A: mut f32*) { A[0] = A[1] }"));
}

TEST(PlainNames, WhatDiffersInMoreStaysDifferent) {
  EXPECT_NE(plain("kernel k(A: f32*, B: mut f32*) { B[0] = A[1] }"),
            plain("kernel k(A: f32*, B: mut f32*) { B[1] = A[0] }"));
  EXPECT_NE(plain("kernel k(A: f32*, B: mut f32*) { B[0] = A[1] }"),
            plain("kernel k(A: i32*, B: mut i32*) { B[0] = A[1] }"));
}

}  // namespace
}  // namespace tulle::loop
