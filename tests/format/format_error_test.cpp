// Mistakes in the text of formats, one per case.
#include <gtest/gtest.h>

#include "format/format.h"
#include "tulle/error.h"

namespace tulle {
namespace {

struct Mistake {
  const char* text;
  int rank;
  const char* message;
};

class FormatError : public testing::TestWithParam<Mistake> {};

TEST_P(FormatError, SaysWhatIsWrong) {
  try {
    Format::parse(GetParam().text, GetParam().rank);
    FAIL() << "parsed: " << GetParam().text;
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, FormatError,
    testing::Values(
        Mistake{
            "crs", 2,
            "there is no format 'crs' (did you mean 'csr'?); the names are dense, coo, csf, csr"},
        Mistake{"", 2, "expected the name of a format or '(', found the end"},
        Mistake{"csr csr", 2, "expected the end of the format, found 'csr'"},
        Mistake{"csr", 1, "is for matrices and batches of them, but the tensor has rank 1"},
        Mistake{"coo", 0, "A scalar is 'dense'"},
        Mistake{"csr(4,4)", 2, "The format 'csr' takes no arguments"},
        Mistake{"dense(4)", 2, "The format 'dense' takes no arguments"},
        Mistake{"csr(j,i)", 2, "a dimension order is written (i,j) -> (j: dense, i: compressed)"},
        Mistake{"bsr", 2,
                "takes the rows and columns of a block, as in bsr(16,16), but 0 arguments"},
        Mistake{"bsr(0,4)", 2,
                "takes the rows and columns of a block, at least 1, but bsr(0,4) was given"},
        Mistake{"(i) -> (i: dense)", 2, "the format has 1 dimensions, but the tensor has 2"},
        Mistake{"(i,i) -> (i: dense)", 2, "names its dimension 'i' twice"},
        Mistake{"(i,j) -> (i: dense)", 2,
                "The dimension 'j' has no level; add one, for example j: dense"},
        Mistake{"(i,j) -> (i: dense, k: dense)", 2, "'k' is not a dimension of this format"},
        Mistake{"(i) -> (i: dense, i: dense)", 1, "must store the dimension 'i' exactly once"},
        Mistake{"(i) -> (i/4: dense)", 1, "must store the dimension 'i' exactly once"},
        Mistake{"(i) -> (i%4: dense, i/4: dense)", 1, "as i/b with a level i%b"},
        Mistake{"(i) -> (i/4: dense, i%2: dense)", 1, "of the same b"},
        Mistake{"(i) -> (i/0: dense, i%0: dense)", 1, "a block size must be at least 1"},
        Mistake{"(i,j) -> (i: dense, j: hashed)", 2,
                "there is no level kind 'hashed'; the kinds are dense, compressed, singleton, "
                "padded, ragged, range and bitmap"},
        Mistake{"(i,j) -> (i: dense, j: padded)", 2, "expected '(', found ')'"},
        Mistake{"(i,j) -> (i: dense, j: padded(0))", 2, "the number of slots must be at least 1"},
        Mistake{"bsr(65536,65536)", 2, "A block of the format has more than 2147483647 elements"},
        Mistake{"ell", 2,
                "takes the maximum number of entries per row, as in ell(16), but 0 arguments"},
        Mistake{"(i) -> (i: padded(4))", 1, "'i: padded(4)' cannot be the first"},
        Mistake{"(i) -> (i: ragged)", 1, "'i: ragged' cannot be the first"},
        Mistake{"(i,j) -> (i: dense, j: dense multiple(4))", 2, "has no segments to round up"},
        Mistake{"(i,j) -> (i: bitmap, j: compressed)", 2,
                "'j: compressed' is below 'i: bitmap', some slots of which hold no entry"},
        Mistake{"(i,j) -> (i: compressed nonunique, j: bitmap)", 2, "make them unique"},
        Mistake{"(i,j) -> (i: dense, j: range)", 2, "takes its bounds from a difference level"},
        Mistake{"(i,j) -> (j-i: dense, i: range)", 2, "stores differences"},
        Mistake{"(i,j) -> (j-i: compressed, i/2: dense, i%2: dense)", 2,
                "needs another level that stores 'i' whole"},
        Mistake{"(i,j) -> (i-i: compressed, j: dense)", 2, "needs another level that stores 'i'"},
        Mistake{"(i,j) -> (i: dense, j: compressed sorted)", 2,
                "there is no level property 'sorted'"},
        Mistake{"(i,j) -> (i: dense unordered, j: dense)", 2, "remove 'nonunique' and 'unordered'"},
        Mistake{"(i,j) -> (i: dense, j: singleton)", 2,
                "needs a compressed or singleton level directly above it"},
        Mistake{"(i,j) -> (i: compressed, j: singleton)", 2, "add 'nonunique' to that"},
        Mistake{"(i,j,k) -> (i: compressed nonunique, j: singleton, k: singleton)", 3,
                "add 'nonunique' to that"},
        Mistake{"(i,j) (i: dense, j: dense)", 2, "expected '->', found '('"}));

}  // namespace
}  // namespace tulle
