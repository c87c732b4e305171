// Resolved programs: operands, results, extents, chosen formats, and mistakes.
#include <gtest/gtest.h>

#include "expr/extents.h"
#include "expr/fixture.h"
#include "tulle/error.h"

namespace tulle::expr {
namespace {

TEST(Resolve, OperandsAndResultsInOrder) {
  const ResolvedProgram program =
      resolved("S[i,j] = B[j,i]; y[i] = S[i,j] * A[i,j]; z[i] = B[i,j]",
               {{"A", 2, "csr"}, {"B", 2, "csr"}, {"unused", 1, "dense"}});
  EXPECT_EQ(program.operands, (std::vector<std::string>{"B", "A"}));
  EXPECT_EQ(program.results, (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(program.tensors.at("S").format.name(), "csc");
}

TEST(Resolve, AccessesAreNumbered) {
  const ResolvedProgram program = resolved("C[i,j] = A[k,i] * A[k,j]", {{"A", 2, "csr"}});
  const std::vector<const Access*> found = accesses(program.statements[0].value);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0]->id, 0);
  EXPECT_EQ(found[1]->id, 1);
}

TEST(Resolve, ExtentsComeFromOperands) {
  // The j of the second statement is a different index: the rows of A.
  const ResolvedProgram program =
      resolved("T[i,j] = A[j,i]; C[i,k] = T[i,j] * A[j,k]", {{"A", 2, "csr"}});
  const auto extents = index_extents(program, {{"A", {2, 3}}});
  EXPECT_EQ(extents[0].at("i"), 3);
  EXPECT_EQ(extents[0].at("j"), 2);
  EXPECT_EQ(extents[1].at("i"), 3);
  EXPECT_EQ(extents[1].at("j"), 2);
  EXPECT_EQ(extents[1].at("k"), 3);
  ASSERT_EQ(program.extents[1].at("j").size(), 1);
  EXPECT_EQ(program.extents[1].at("j")[0].tensor, "A");
}

TEST(Resolve, DifferentExtentsOfOneIndexAreRefused) {
  const ResolvedProgram program =
      resolved("y[i] = A[i,j] * x[j]", {{"A", 2, "csr"}, {"x", 1, "dense"}});
  try {
    index_extents(program, {{"A", {2, 3}}, {"x", {4}}});
    FAIL() << "accepted";
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("the index 'j' has two extents: dimension 1 of 'A' is 3, dimension 0 of "
                           "'x' is 4; they must be equal"),
              std::string::npos)
        << message;
    EXPECT_EQ(underlined(message), "j j") << message;
  }
}

TEST(Resolve, ExtentsOfIntermediatesAreChecked) {
  const ResolvedProgram program = resolved("T[i,j] = A[j,i]\n  y[i] = T[i,j] *\n    x[j]",
                                           {{"A", 2, "csr"}, {"x", 1, "dense"}});
  try {
    index_extents(program, {{"A", {2, 3}}, {"x", {4}}});
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "index notation, line 3, column 7: the index 'j' has two extents: dimension 1 of "
                 "'T' is 2, dimension 0 of 'x' is 4; they must be equal\n"
                 "      x[j]\n"
                 "        ^");
  }
}

TEST(Resolve, ExtentsInEinsumAreChecked) {
  const ParsedProgram einsum = parse_einsum("ij , jk -> ik", {"t0", "t1"}, {2, 2}, "out");
  const ResolvedProgram program =
      resolve(einsum, {{"t0", type("csr", 2)}, {"t1", type("dense", 2)}});
  try {
    index_extents(program, {{"t0", {2, 3}}, {"t1", {4, 5}}});
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "einsum, line 1, column 6: the index 'j' has two extents: dimension 1 of operand 1 "
        "is 3, dimension 0 of operand 2 is 4; they must be equal\n"
        "  ij , jk -> ik\n"
        "   ^   ^");
  }
}

TEST(Resolve, FormatsCanBeChosen) {
  const ResolvedProgram program = resolved("C[i,k] = A[i,j] * A[j,k]", {{"A", 2, "csr"}},
                                           {.out_formats = {{"C", Format::parse("dcsc", 2)}}});
  EXPECT_EQ(program.tensors.at("C").format.name(), "dcsc");
}

TEST(Resolve, IndexTypeIsTheWidestOfTheSparseOperands) {
  std::map<std::string, TensorType> types = {{"A", type("csr", 2)}, {"B", type("csr", 2)}};
  const ParsedProgram program = parse_program("C[i,j] = A[i,j] + B[i,j]");
  EXPECT_EQ(resolve(program, types).tensors.at("C").index_type, DType::Int32);
  types["B"].index_type = DType::Int64;
  EXPECT_EQ(resolve(program, types).tensors.at("C").index_type, DType::Int64);
  EXPECT_EQ(resolve(program, types, {.index_type = DType::Int32}).tensors.at("C").index_type,
            DType::Int32);
}

struct Mistake {
  const char* text;
  const char* message;
  const char* at;  // the text that the caret underlines
};

class ResolveError : public testing::TestWithParam<Mistake> {};

TEST_P(ResolveError, SaysWhatIsWrong) {
  try {
    resolved(GetParam().text, {{"A", 2, "csr"}, {"x", 1, "dense"}});
    FAIL() << "resolved: " << GetParam().text;
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
    EXPECT_EQ(underlined(message), GetParam().at) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, ResolveError,
    testing::Values(
        Mistake{"y[i] = B[i]",
                "line 1, column 8: there is no operand 'B'; the operands are A, x\n  y[i] = B[i]\n "
                "        "
                "^^^^",
                "B[i]"},
        Mistake{"y[i] = A[i]", "'A' has rank 2, but the number of its indices here is 1", "A[i]"},
        Mistake{"y = x", "'x' has rank 1, but the number of its indices here is 0", "x"},
        Mistake{"y[i] = x[i]; z = y[ i, j ]", "'y' has rank 1", "y[ i, j ]"},
        Mistake{"x[i] = A[i,j]", "'x' is given as an operand, so it cannot be assigned", "x[i]"},
        Mistake{"C[i,j] = x[i]", "the index 'j' is on the left only", "j"},
        Mistake{"t = x[i]\n\n# comment\n  y[i] = 2*t  +  A[ i ]*x[i]",
                "line 4, column 18: 'A' has rank 2", "A[ i ]"},
        Mistake{"t = x[i]\ny[i]=relu( A[i,j]*x[j] )*t", "line 2, column 6: 'relu' is not linear",
                "relu( A[i,j]*x[j] )"},
        Mistake{"y[i] = x[i] / (x[j] + 1)", "division is not linear in its divisor", "x[j] + 1"},
        Mistake{"t = x[i]\ny[i] = x[i] * sum((j, k), A[i,j])",
                "line 2, column 23: the sum is over 'k'", "k"},
        Mistake{"y[i] = x[i] * sum(i, A[i,j])", "'i' is summed here, but it is also on the left",
                "i"}));

TEST(ResolveError, FormatOfAnotherRank) {
  EXPECT_THROW(
      resolved("y[i] = x[i]", {{"x", 1, "dense"}}, {.out_formats = {{"y", Format::dense(2)}}}),
      UserError);
}

TEST(ResolveError, FormatForWhatNobodyAssigns) {
  EXPECT_THROW(
      resolved("y[i] = x[i]", {{"x", 1, "dense"}}, {.out_formats = {{"z", Format::dense(1)}}}),
      UserError);
}

}  // namespace
}  // namespace tulle::expr
