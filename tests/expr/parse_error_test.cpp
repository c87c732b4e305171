// Mistakes in index notation and in einsum equations, one per case: the message and the position of
// the caret.
#include <gtest/gtest.h>

#include "expr/fixture.h"
#include "expr/program.h"
#include "tulle/error.h"

namespace tulle::expr {
namespace {

struct Mistake {
  const char* text;
  const char* message;
  const char* at;  // the text that the caret underlines
};

void expect_mistake(const std::string& message, const Mistake& mistake) {
  EXPECT_NE(message.find(mistake.message), std::string::npos) << message;
  EXPECT_EQ(underlined(message), mistake.at) << message;
}

class ProgramError : public testing::TestWithParam<Mistake> {};

TEST_P(ProgramError, PointsAtThePlace) {
  try {
    parse_program(GetParam().text);
    FAIL() << "parsed: " << GetParam().text;
  } catch (const UserError& error) {
    expect_mistake(error.what(), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, ProgramError,
    testing::Values(
        Mistake{"", "expected a statement", ""}, Mistake{"C = ", "expected a tensor, a number", ""},
        Mistake{"3 = a", "expected the name of a result", "3"},
        Mistake{"C[i] = α[i]", "found 'α'", "\xCE"},
        Mistake{"C = a\n  + b", "move the '+' to the end of the previous line", "+"},
        Mistake{"+ C = a", "expected the name of a result", "+"},
        Mistake{"C[i] a[i]", "expected '='", "a"},
        Mistake{"C = a b", "expected an operator or the end of the statement", "b"},
        Mistake{"A[i] * b[i]", "expected '=': a statement is a result and its value", "*"},
        Mistake{"C[i] = A[i] ** 2", "there is no operator '**'; the operators are + - * /", "**"},
        Mistake{"C[i] = A.pos1[i]", "there is no operator '.'", "."},
        Mistake{"C[i.1] = A[i.1]", "expected ',' or ']'", "."},
        Mistake{"C[i] = (A[i] @ B[i])", "there is no operator '@'", "@"},
        Mistake{"C[i] = A[i][j]", "write all subscripts in one pair of brackets", "["},
        Mistake{"C[i] = A[i,:]", "expected an index, a name such as j", ":"},
        Mistake{"C[i] = A[i,j] * x(j)", "a tensor is subscripted as in x[i,j]", "x"},
        Mistake{"C = (a", "expected an operator or ')', found the end", ""},
        Mistake{"C = a)", "expected an operator or the end of the statement", ")"},
        Mistake{"C[i = a[i]", "expected ',' or ']'", "="},
        Mistake{"C[i,k] = A[i,j * B[j,k]",
                "expected ']' before '*': the bracket of the subscripts is not closed, as in "
                "A[i,j] * ...",
                "*"},
        Mistake{"y[i] = x[i - A[i,j]\nz[i] = x[i]", "is not closed, as in A[i] - ...", "-"},
        Mistake{"y[i] = x[i / 2", "expected ']' before '/'", "/"},
        Mistake{"C[] = a", "expected an index", "]"},
        Mistake{"C = a * * b", "expected a tensor", "*"},
        Mistake{"C[i,j,i] = a[i,j]", "the index 'i' is twice on the left", "i"},
        Mistake{"C = a; C = b", "'C' is assigned twice", "C"},
        Mistake{"C = a; a = C", "'a' is read as an operand", "a"},
        Mistake{"C = C + 1", "'C' is read as an operand", "C"},
        Mistake{"C = foo(a)", "there is no function 'foo'; the functions are sum, prod, max",
                "foo"},
        Mistake{"C = sum(A[i])",
                "'sum' needs an index as its first argument; write sum(j, x) over an index j", "A"},
        Mistake{"C = sum((i,j,i), A[i,j])", "the index 'i' is twice in one sum", "i"},
        Mistake{"C = sum(i, sum(i, A[i]))", "the index 'i' is summed twice", "i"},
        Mistake{"C = prod(A[i])",
                "'prod' needs an index as its first argument; write prod(j, x) over an index j, "
                "prod((j,k), x)",
                "A"},
        Mistake{"C = max(i)", "'max' needs another argument; write max(j, x) over an index j",
                "max(i)"},
        Mistake{"m[i] = max(A[i,j])", "max(j in A[i,j], x) over the entries of A, or max(x, y) of",
                "max(A[i,j])"},
        Mistake{"C = max(i in A[i])", "'max' needs another argument", "max(i in A[i])"},
        Mistake{"C = max(i, A[i], 3)", "'max' takes no further argument except empty=", "3"},
        Mistake{"C = max(A[i], 2, 3)", "'max' takes no further argument; write", ","},
        Mistake{"C = sum(i, j, A[i,j])", "sum((j,k), x) over several", "A"},
        Mistake{"C = sum((i, j))", "'sum' needs another argument", "sum((i, j))"},
        Mistake{"C = sum((A[i], j))", "'sum' needs an index as its first argument", "A"},
        Mistake{"C = argmax(A[i,j])", "write argmax(j, x) over an index j, or argmax(j in", "A"},
        Mistake{"C[i,j] = softmax(A[i,j])",
                "'softmax' needs an index as its first argument; write softmax(j, x)", "A"},
        Mistake{"C[i,j] = log_softmax(j)", "'log_softmax' needs another argument",
                "log_softmax(j)"},
        Mistake{"C[i] = relu()", "'relu' needs another argument; write relu(x)", "relu()"},
        Mistake{"C[i] = relu(A[i], 2)", "'relu' takes no further argument; write relu(x)", ","},
        Mistake{"C[i] = within(A[i])", "write within(A[i,j], x)", "within(A[i])"},
        Mistake{"C[i] = A[i] * index(i, 2)", "'index' takes no further argument; write index(j)",
                ","},
        Mistake{"C[i] = A[i] * extent()", "'extent' needs another argument; write extent(j)",
                "extent()"},
        Mistake{"C = where(A[i], 1, 2, 3)", "'where' takes no further argument", ","},
        Mistake{"C = max(i, A[i], empty=A)", "expected a number", "A"},
        Mistake{"C = where(A[i], 1)", "'where' needs another argument; write where(c, x, y)",
                "where(A[i], 1)"},
        Mistake{"C[i] = A[i] * index(2)", "expected an index", "2"},
        Mistake{"C = a * 1e999", "the number '1e999' is too large", "1e999"},
        Mistake{"C = a * 9007199254740993", "is too large; pass it as an operand",
                "9007199254740993"}));

class NotYet : public testing::TestWithParam<Mistake> {};

TEST_P(NotYet, PointsAtThePlace) {
  try {
    parse_program(GetParam().text);
    FAIL() << "parsed: " << GetParam().text;
  } catch (const Unsupported& error) {
    expect_mistake(error.what(), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, NotYet,
    testing::Values(Mistake{"C[i] += a[i]", "'+=' is not supported yet", "+="},
                    Mistake{"C[i] = A[i - P[i]]", "affine subscripts are not supported yet", "-"},
                    Mistake{"C[i] = a[i+1]", "multiply by a sparse matrix that shifts", "+"},
                    Mistake{"C[i] = a[i] > 0", "comparisons are not supported yet", ">"},
                    Mistake{"C[i] = (a[i] == 0)", "comparisons are not supported yet", "=="},
                    Mistake{"C[i] = where(a[i] <= b[i], a[i], 0)", "sign(relu(a - b)) is 1", "<="},
                    Mistake{"C[i] = a[i,0]", "constants as subscripts are not supported yet", "0"},
                    Mistake{"C[e] = X[idx[e]]", "gathers are not supported yet", "["},
                    Mistake{"C[i] = any(j, A[i,j])", "'any' is not supported yet", "any"}));

TEST(ProgramError, HugeStatementsAreRefused) {
  EXPECT_THROW(parse_program("C = " + std::string(100000, '(')), UserError);
  EXPECT_THROW(parse_program("C = " + std::string(100000, '-') + "a"), UserError);
  std::string chain = "C = a";
  for (int n = 0; n < 100000; ++n) chain += " + a";
  EXPECT_THROW(parse_program(chain), UserError);
}

class EinsumError : public testing::TestWithParam<Mistake> {};

TEST_P(EinsumError, PointsAtThePlace) {
  try {
    parse_einsum(GetParam().text, {"A", "B"}, {2, 2}, "out");
    FAIL() << "parsed: " << GetParam().text;
  } catch (const UserError& error) {
    expect_mistake(error.what(), GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, EinsumError,
    testing::Values(
        Mistake{"ij->ij", "is for 1 operand, but 2 were given", "ij->ij"},
        Mistake{"ij,j->i", "operand 2 has rank 2, but the number of its subscripts is 1", "j"},
        Mistake{"ijk,jk->i", "operand 1 has rank 2, but the number of its subscripts is 3", "ijk"},
        Mistake{"ij;jk->ik", "unexpected ';'", ";"}, Mistake{"ij,jκ->iκ", "unexpected 'κ'", "\xCE"},
        Mistake{"ij,jk->ik->", "unexpected '-'", "-"},
        Mistake{"ij,jk->il", "the output has 'l', which no operand has", "l"},
        Mistake{"ij,jk->ikk", "the output has 'k' twice", "k"},
        Mistake{"...i...,jk->k", "'...' is given twice", "..."}));

}  // namespace
}  // namespace tulle::expr
