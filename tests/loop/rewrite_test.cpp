// The rewriter returns unchanged nodes as they are, rebuilds the others, and visits every child.
#include "loop/rewrite.h"

#include <gtest/gtest.h>

#include "loop/parse.h"
#include "loop/print.h"
#include "tulle/error.h"

namespace tulle::loop {
namespace {

// Every kind of statement and expression, with the variable n wherever an expression can occur.
constexpr const char* kEverything = R"(
kernel k(A: i64*, C: mut i64*, P: mut i64*; n: i64) {
  let a: i64 = n + select(n < 3, n, 2 * n)
  var b: i64 = i64(f32(n)) + neg(n)
  b = A[n if n < 5]
  C[n if n > 1] = n
  C[ramp(n, n, 4)] = broadcast(n, 4)
  for i in [n, n) { C[i] = n }
  while (n < 3) { b = n }
  if (n < 4) { b = n } else { b = n }
  w = alloc workspace i64[n]
  { atomic_add(C[n], n) }
  barrier(block)
  prefetch(A[n], 1)
  sort(P, n, n)
  b = vector_reduce(add, ramp(n, 1, 4)) + lane_reduce(add, n, 8) + lane_shuffle(xor, n, n, 8)
})";

int uses(const Stmt& stmt, const std::string& name) {
  int count = 0;
  visit(
      stmt, [](const Stmt&) {},
      [&](const Expr& expr) {
        const auto* var = expr.as<Var>();
        count += var && var->name == name;
      });
  return count;
}

TEST(Rewrite, UnchangedTreesAreHandedOn) {
  const Stmt body = parse_kernel(kEverything).body;
  EXPECT_EQ(Rewriter().rewrite(body).get(), body.get());
  EXPECT_EQ(substitute(body, "absent", IntConst::make(3)).get(), body.get());
}

TEST(Rewrite, SubstitutionReachesEveryUse) {
  const Stmt body = parse_kernel(kEverything).body;
  const int before = uses(body, "n");
  EXPECT_EQ(before, 32) << to_string(body);
  const Stmt changed = substitute(body, "n", Var::make("m"));
  EXPECT_EQ(uses(changed, "n"), 0) << to_string(changed);
  EXPECT_EQ(uses(changed, "m"), before);
}

TEST(Rewrite, RebuildingFolds) {
  const Kernel kernel =
      parse_kernel("kernel k(C: mut i64*; n: i64) { if (n < 3) { C[n * 4 + 1] = n } }");
  const Stmt changed = substitute(kernel.body, "n", IntConst::make(2));
  EXPECT_EQ(to_string(changed), "{\n  {\n    C[9] = 2\n  }\n}\n");
}

TEST(Rewrite, UnchangedSiblingsAreShared) {
  const Stmt body =
      parse_kernel("kernel k(C: mut i64*; n: i64, m: i64) { C[0] = n C[1] = m }").body;
  const Stmt changed = substitute(body, "n", IntConst::make(2));
  EXPECT_NE(changed.as<Block>()->stmts[0].get(), body.as<Block>()->stmts[0].get());
  EXPECT_EQ(changed.as<Block>()->stmts[1].get(), body.as<Block>()->stmts[1].get());
}

TEST(Rewrite, SubstitutionKeepsTypes) {
  const Stmt body = parse_kernel("kernel k(C: mut i64*; n: i64) { C[0] = n }").body;
  EXPECT_THROW(substitute(body, "n", FloatConst::make(2, {DType::Float32, 1})), InternalError);
}

}  // namespace
}  // namespace tulle::loop
