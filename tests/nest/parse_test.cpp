// The text of nests: printing, parsing, and errors that point at mistakes.
#include "nest/parse.h"

#include <gtest/gtest.h>

#include "support/check.h"
#include "tulle/error.h"

namespace tulle::nest {
namespace {

// A nest with every kind of declaration and statement.
constexpr std::string_view kFull = R"(nest {
  operand A: f32, i32, csr
  operand B: f64, dense
  result C: f64, dense
  workspace acc: f64, dense
  extent k = 128
  var k0 = k / 64
  var k1 = k % 64
  prefetch B 16
  nontemporal C
  forall i parallel(nnz) {
    forall k0 {
      where acc {
        forall k1 vector(16) {
          C[i,k] = acc[k1]
        }
      } producing {
        forall j unrolled(2) {
          forall k1 vector(16) {
            acc[k1] += A[i,j] * B[j,k]
          }
        }
      }
    }
  }
}
)";

std::string message_of(std::string_view text) {
  try {
    parse_nest(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

void expect_refused(std::string_view text, std::string_view part) {
  const std::string message = message_of(text);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

void expect_round_trip(std::string_view text) { EXPECT_EQ(to_string(parse_nest(text)), text); }

TEST(NestText, RoundTrips) { expect_round_trip(kFull); }

TEST(NestText, RoundTripsNumbersOfTypeBool) {
  const std::string text = R"(nest {
  operand A: bool, i32, csr
  workspace best: bool, dense
  result y: bool, dense
  forall i {
    where best {
      y[i] = where(extent(j), max(best, 0:bool), 1:bool)
    } producing {
      forall j {
        best max= A[i,j]
      }
    }
  }
}
)";
  expect_round_trip(text);
  const Nest nest = parse_nest(text);
  EXPECT_EQ(assigns(nest.root).back()->value.type(), DType::Bool);
}

TEST(NestText, RoundTripsTuples) {
  expect_round_trip(R"(nest {
  operand A: f32, i32, csr
  result O: f32, dense
  operand V: f32, unbounded, dense
  workspace best: f32, dense
  workspace place: i64, with best, dense
  workspace total: f32, with best, dense
  forall i {
    where best, place, total {
      O[i] = total * place
    } producing {
      forall j {
        sequence {
          best max= A[i,j]
          place pick= within(A[i,j], index(j))
          total scaled= within(A[i,j], V[j])
        }
      }
    }
  }
}
)");
}

TEST(NestText, RefusesTuplesWithoutALead) {
  expect_refused(R"(nest {
  operand A: f32
  result y: f32
  workspace t: f32
  where t { y = t } producing { forall i { t scaled= A[i] } }
})",
                 "with a lead");
}

TEST(NestText, RoundTripsSequencesScalarsAndFusedVariables) {
  expect_round_trip(R"(nest {
  operand A: f32, dense
  result s: f32, dense
  var f = (i, j)
  sequence {
    s = 0
    forall f unrolled {
      s += relu(A[i,j]) * -2.5
    }
  }
}
)");
}

TEST(NestText, RoundTripsTrackedWorkspacesSharedPatternsAndLongFormats) {
  expect_round_trip(R"(nest {
  operand A: i64, i64, (i,j) -> (j: compressed, i: compressed unordered)
  result C: i64, i32, like A, csr
  operand D: f32, i32, (i,j) -> (i: dense, j: compressed)
  workspace w: i64, i32, tracked, dense
  var unused
  forall i parallel(rows) {
    where w {
      forall j {
        C[i,j] = w[j]
      }
    } producing {
      forall j {
        w[j] += A[i,j]
      }
    }
  }
}
)");
}

TEST(NestText, IsFreeInLayoutAndHasDefaults) {
  const Nest nest = parse_nest(
      "nest { operand x: f32; result y: f32 ; workspace t: f32 plain // a comment\n"
      "forall i { where t { y[i] = t } producing { t += x[i] } } }");
  EXPECT_EQ(nest.tensor("x").type.format, Format::dense(1));
  EXPECT_EQ(nest.tensor("x").type.index_type, DType::Int64);
  EXPECT_EQ(nest.tensor("t").role, Tensor::Role::Workspace);
  EXPECT_EQ(nest.tensor("t").type.format.rank(), 0);
  EXPECT_EQ(nest.variable("i"), Variable{});
}

TEST(NestText, GivesTypesAndNumbers) {
  const Nest nest = parse_nest(kFull);
  const std::vector<const Assign*> found = assigns(nest.root);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->value.type(), DType::Float64);
  EXPECT_EQ(found[0]->value.as<expr::Binary>()->a.type(), DType::Float32);
  EXPECT_EQ(found[1]->value.as<expr::Access>()->id, 0);
  EXPECT_EQ(found[0]->value.as<expr::Binary>()->b.as<expr::Access>()->id, 2);
}

TEST(NestText, NamesMayBeKeywords) {
  expect_round_trip(R"(nest {
  operand forall: f32, dense
  result nest: f32, dense
  forall sequence {
    nest[sequence] = forall[sequence]
  }
}
)");
}

TEST(NestText, NamesOfTheCompilerHaveDots) {
  expect_round_trip(R"(nest {
  operand A.as0: f32, i32, csr
  result y: f32, dense
  workspace y.acc: f32, dense
  var j.1.inner = j.1 % 4
  var j.1.outer = j.1 / 4
  forall i {
    where y.acc {
      y[i] = y.acc
    } producing {
      forall j.1.outer {
        forall j.1.inner {
          y.acc += A.as0[i,j.1] * 2.5
        }
      }
    }
  }
}
)");
}

TEST(NestText, PointsIntoExpressions) {
  const std::string message =
      message_of("nest {\n  operand A: f32\n  result y: f32\n  forall i { y[i] += A[i] * }\n}");
  EXPECT_NE(message.find("line 4, column"), std::string::npos) << message;
}

TEST(NestText, RefusesUnknownTypes) {
  expect_refused("nest { operand A: f31 }", "no element type 'f31'");
}

TEST(NestText, RefusesFloatIndexTypes) {
  expect_refused("nest { operand A: f32, f32 }", "i32 or i64");
}

TEST(NestText, RefusesTwoStatementsInABlock) {
  expect_refused("nest { operand A: f32; result y: f32\n forall i { y[i] = A[i]; y[i] += A[i] } }",
                 "sequence { ... }");
}

TEST(NestText, RefusesUndeclaredTensors) {
  expect_refused("nest { result y: f32\n forall i { y[i] = A[i] } }",
                 "'A', which no line declares");
}

TEST(NestText, RefusesTensorsDeclaredTwice) {
  expect_refused("nest { result y: f32; result y: f32\n y = 1 }", "declared twice");
}

TEST(NestText, RefusesUnusedTensorsOfUnknownRank) {
  expect_refused("nest { operand A: f32, dense; result y: f32\n y = 1 }", "no statement uses 'A'");
}

TEST(NestText, RefusesSums) {
  expect_refused("nest { operand A: f32; result y: f32\n y = sum(i, A[i]) }",
                 "A nest has loops instead of sums");
}

TEST(NestText, RefusesWhatIsNotWellFormed) {
  expect_refused("nest { operand A: f32; result y: f32\n y = A[i] }", "binds its index 'i'");
}

TEST(NestText, RefusesUnknownBalance) {
  expect_refused("nest { result y: f32\n forall i parallel(cols) { y[i] = 1 } }",
                 "rows, nnz or merge");
}

// A workspace that copies an entry promotes like the entry, one that copies a scalar like the
// scalar.
TEST(NestText, WorkspacesCountAsWhatTheyHold) {
  const auto type_of = [](const char* indices) {
    const Nest nest = parse_nest(concat(
        "nest {\n operand A: i64\n operand B: i32\n workspace w: i64, registers\n result C: i64\n "
        "forall i { where w { C[i] = w * B[i] } producing { w = A",
        indices, " } } }"));
    for (const Assign* assign : assigns(nest.root)) {
      if (assign->tensor == "C") return assign->value.type();
    }
    return DType::Bool;
  };
  EXPECT_EQ(type_of("[i]"), DType::Int64);
  EXPECT_EQ(type_of(""), DType::Int32);
}

}  // namespace
}  // namespace tulle::nest
