// The verifier of nests, one broken rule per test.
#include "nest/verify.h"

#include <gtest/gtest.h>

#include "nest/parse.h"
#include "tulle/error.h"

namespace tulle::nest {
namespace {

// y[i] += A[i,j] * x[j]
Nest product() {
  return parse_nest(R"(nest {
    operand A: f32, i32, csr
    operand x: f32
    result y: f32
    forall i { forall j { y[i] += A[i,j] * x[j] } }
  })");
}

// y[i] = t, where t sums the row.
Nest with_workspace() {
  return parse_nest(R"(nest {
    operand A: f32, i32, csr
    result y: f32
    workspace t: f32
    forall i { where t { y[i] = t } producing { forall j { t += A[i,j] } } }
  })");
}

void expect_broken(const Nest& nest, std::string_view part) {
  try {
    verify_nest(nest);
    FAIL() << "accepted:\n" << to_string(nest);
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

const Assign& first_assign(const Nest& nest) { return *assigns(nest.root).front(); }

TEST(VerifyNest, AcceptsIndicesBoundThroughProvenance) {
  Nest nest = product();
  nest.variables["j0"] = {.origin = Variable::Origin::Outer, .parent = "j", .factor = 4};
  nest.variables["j1"] = {.origin = Variable::Origin::Inner, .parent = "j", .factor = 4};
  nest.variables["f"] = {.origin = Variable::Origin::Fused, .parent = "i", .second = "j0"};
  const Assign& assign = first_assign(nest);
  const Stmt body = Assign::make(assign.tensor, assign.indices, Monoid::Sum, assign.value);
  nest.root = Forall::make("f", Forall::make("j1", body));
  EXPECT_NO_THROW(verify_nest(nest));
  nest.variables["j1"].factor = 5;
  expect_broken(nest, "binds its index 'j'");
}

TEST(VerifyNest, RefusesUnboundIndices) {
  Nest nest = product();
  nest.root = nest.root.as<Forall>()->body;
  expect_broken(nest, "binds its index 'i'");
}

TEST(VerifyNest, RefusesVariablesBoundTwice) {
  Nest nest = product();
  nest.root = Forall::make("j", nest.root);
  expect_broken(nest, "already binds it");
}

TEST(VerifyNest, RefusesAVariableInsideItsQuotient) {
  Nest nest = product();
  nest.variables["i0"] = {.origin = Variable::Origin::Outer, .parent = "i", .factor = 4};
  nest.root = Forall::make("i0", nest.root);
  expect_broken(nest, "already binds it");
}

TEST(VerifyNest, RefusesVariablesDerivedFromThemselves) {
  Nest nest = product();
  nest.variables["i"] = {.origin = Variable::Origin::Outer, .parent = "i", .factor = 4};
  expect_broken(nest, "derived from itself");
}

TEST(VerifyNest, RefusesUnknownVariables) {
  Nest nest = product();
  nest.variables.erase("j");
  expect_broken(nest, "'j' is not a variable");
}

TEST(VerifyNest, RefusesUnknownTensors) {
  Nest nest = product();
  nest.tensors.erase("x");
  expect_broken(nest, "'x' is not a tensor");
}

TEST(VerifyNest, RefusesWrongRanks) {
  Nest nest = product();
  nest.tensors.at("x").type.format = Format::dense(2);
  expect_broken(nest, "rank 2");
}

TEST(VerifyNest, RefusesWritingOperands) {
  Nest nest = product();
  nest.tensors.at("y").role = Tensor::Role::Operand;
  expect_broken(nest, "writes the operand 'y'");
}

TEST(VerifyNest, RefusesReadingResults) {
  Nest nest = product();
  nest.tensors.at("x").role = Tensor::Role::Result;
  expect_broken(nest, "reads the result 'x'");
}

TEST(VerifyNest, RefusesEqualIds) {
  Nest nest = product();
  const Assign& assign = first_assign(nest);
  const auto& [a, b] =
      std::pair(assign.value.as<expr::Binary>()->a, assign.value.as<expr::Binary>()->b);
  const expr::Expr other = expr::Access::make(
      a.as<expr::Access>()->id, b.as<expr::Access>()->tensor, b.as<expr::Access>()->indices);
  const expr::Expr twice = expr::Binary::make(expr::BinaryOp::Mul, a, other);
  nest.root = Forall::make("i", Forall::make("j", Assign::make("y", {"i"}, Monoid::Sum, twice)));
  expect_broken(nest, "have the id 0");
}

TEST(VerifyNest, AcceptsTheSameAccessTwice) {
  Nest nest = product();
  const expr::Expr a = first_assign(nest).value.as<expr::Binary>()->a;
  const expr::Expr square = expr::Binary::make(expr::BinaryOp::Mul, a, a);
  nest.root = Forall::make("i", Forall::make("j", Assign::make("y", {"i"}, Monoid::Sum, square)));
  EXPECT_NO_THROW(verify_nest(nest));
}

TEST(VerifyNest, RefusesSums) {
  Nest nest = product();
  const expr::Expr sum = expr::Reduce::make({"j"}, first_assign(nest).value);
  nest.root = Forall::make("i", Assign::make("y", {"i"}, std::nullopt, sum));
  expect_broken(nest, "holds a sum");
}

TEST(VerifyNest, AcceptsWorkspaces) { EXPECT_NO_THROW(verify_nest(with_workspace())); }

TEST(VerifyNest, RefusesWhereOverResults) {
  Nest nest = with_workspace();
  nest.tensors.at("t").role = Tensor::Role::Result;
  expect_broken(nest, "is no workspace");
}

TEST(VerifyNest, RefusesProducerAndConsumerExchanged) {
  Nest nest = with_workspace();
  const auto* where = nest.root.as<Forall>()->body.as<Where>();
  nest.root = Forall::make("i", Where::make("t", where->producer, where->consumer));
  expect_broken(nest, "never writes it");
}

TEST(VerifyNest, RefusesConsumersThatReadNothing) {
  Nest nest = with_workspace();
  const auto* where = nest.root.as<Forall>()->body.as<Where>();
  const Stmt consumer = Assign::make("y", {"i"}, std::nullopt, expr::Literal::make(1, true));
  nest.root = Forall::make("i", Where::make("t", consumer, where->producer));
  expect_broken(nest, "never reads it");
}

TEST(VerifyNest, RefusesWorkspacesOutsideTheirWhere) {
  Nest nest = with_workspace();
  const auto* where = nest.root.as<Forall>()->body.as<Where>();
  nest.root = Forall::make("i", Sequence::make({where->producer, where->consumer}));
  expect_broken(nest, "written outside its producer");
}

TEST(VerifyNest, RefusesExtentsOfDerivedVariables) {
  Nest nest = product();
  nest.variables["i0"] = {.origin = Variable::Origin::Outer, .parent = "i", .factor = 4};
  nest.known_extents["i0"] = 8;
  expect_broken(nest, "follows from its provenance");
}

TEST(VerifyNest, RefusesPrefetchOfResults) {
  Nest nest = product();
  nest.prefetches.push_back({"y", 4});
  expect_broken(nest, "prefetch of 'y'");
}

TEST(VerifyNest, RefusesNontemporalOperands) {
  Nest nest = product();
  nest.nontemporal.push_back("x");
  expect_broken(nest, "nontemporal takes a result");
}

}  // namespace
}  // namespace tulle::nest
