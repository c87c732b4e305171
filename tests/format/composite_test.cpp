// Composite formats: text, names, parts.
#include "format/composite.h"

#include <gtest/gtest.h>

#include "tulle/error.h"

namespace tulle {
namespace {

std::string round_trip(const std::string& text, int rank = 2) {
  const CompositeFormat format = CompositeFormat::parse(text, rank);
  EXPECT_EQ(CompositeFormat::parse(format.to_string(), rank), format) << format.to_string();
  EXPECT_EQ(CompositeFormat::parse(format.name(), rank), format) << format.name();
  return format.name();
}

std::string message_of(const std::string& text, int rank = 2) {
  try {
    CompositeFormat::parse(text, rank);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Composite, ParsesBack) {
  for (const char* text : {
           "{ rows(nnz<=4): ell(4); rows(nnz>=32): csr; rest: dcsr }",
           "{ columns(0,64): csc; rest: csr }",
           "{ windows(16, reuse>=1.5): sr-bcrs(16,4); rest: csr }",
           "{ blocks(2,3, fill>=0.5): bsr(2,3); rest: (i,j) -> (j: compressed, i: dense) }",
           "columns(4){ rows(nnz<=4): dell(4); rest: csr }",
           "{ band(0,0): dia; columns(2){ rows(nnz<=1): dell(1) }; rest: coo }",
       }) {
    EXPECT_EQ(round_trip(text), text);
  }
}

TEST(Composite, HasNames) {
  EXPECT_EQ(round_trip("{band(-1,2):dia;rest:csr;}"), "dia-csr(-1,2)");
  EXPECT_EQ(round_trip("{ blocks(4,8, fill>=0.25): bsr(4,8); rest: csr }"), "bsr-csr(4,8)");
  EXPECT_EQ(round_trip("hyb(2,1)"), "hyb(2,1)");
  EXPECT_EQ(CompositeFormat::parse("hyb(2,1)", 2).to_string(),
            "columns(2){ rows(nnz<=1): dell(1); rows(nnz<=2): dell(2); rest: pieces(2) }");
  EXPECT_EQ(round_trip("hyb(1,0)", 3), "hyb(1,0)");
}

TEST(Composite, CountsPartsInTheirOrder) {
  const CompositeFormat format = CompositeFormat::parse("hyb(2,1)", 2);
  ASSERT_EQ(format.parts().size(), 6U);
  EXPECT_EQ(format.parts()[4].range, 1);
  EXPECT_EQ(format.parts()[4].format.name(), "dell(2)");
  EXPECT_EQ(CompositeFormat::describe(format.parts()[4]), "rows(nnz<=2) in column range 2 of 2");
  EXPECT_EQ(column_range(7, 1, 2).begin, 4);
  EXPECT_EQ(column_range(7, 1, 2).end, 7);
  EXPECT_EQ(column_range(1, 3, 4).begin, 1);
}

TEST(Composite, TransposesByNamingItsDimensions) {
  const CompositeFormat format = CompositeFormat::parse("dia-csr(0,1)", 2);
  const CompositeFormat transposed = format.permuted({1, 0});
  EXPECT_EQ(transposed.to_string(), "(i,j) -> (j,i){ band(0,1): dia; rest: csr }");
  EXPECT_EQ(round_trip(transposed.to_string()), transposed.to_string());
  EXPECT_EQ(transposed.parts()[1].format, Format::parse("csc", 2));
  EXPECT_EQ(transposed.permuted({1, 0}), format);
  const CompositeFormat batched = CompositeFormat::parse("dia-csr(0,1)", 3).permuted({2, 0, 1});
  EXPECT_EQ(batched.permuted({1, 2, 0}).to_string(), "{ band(0,1): dia; rest: csr }");
}

TEST(Composite, PointsAtMistakes) {
  EXPECT_NE(message_of("{ rows(nnz<=4): ell(4) }").find("add 'rest: csr'"), std::string::npos);
  EXPECT_NE(
      message_of("{ rest: csr; rows(nnz<=4): ell(4) }").find("'rest' takes all other entries"),
      std::string::npos);
  EXPECT_NE(message_of("{ tows(nnz<=4): ell(4); rest: csr }").find("there is no selector 'tows'"),
            std::string::npos);
  EXPECT_NE(message_of("{ tows: ell(4); rest: csr }").find("there is no selector 'tows'"),
            std::string::npos);
  EXPECT_NE(message_of("{ blocks(2,2): csr; rest: csr }").find("write blocks(16,16, fill>=0.25)"),
            std::string::npos);
  EXPECT_NE(message_of("{ windows(2, fill>=1): csr; rest: csr }").find("write windows(16, reuse"),
            std::string::npos);
  EXPECT_NE(message_of("{ rows(nnz<=4): hyb(1,1); rest: csr }").find("plain format"),
            std::string::npos);
  EXPECT_NE(message_of("{ rows(nnz<=4): dense; rest: csr }").find("so it cannot be 'dense'"),
            std::string::npos);
  EXPECT_NE(message_of("{ band(2,1): dia; rest: csr }").find("write band(1,2)"), std::string::npos);
  EXPECT_NE(message_of("{ blocks(2,2, fill>=2): bsr(2,2); rest: csr }").find("write fill>=0.5"),
            std::string::npos);
  EXPECT_EQ(message_of("{ blocks(2,2, fill>=1): bsr(2,2); rest: csr }"), "no error");
  EXPECT_EQ(message_of("{ windows(2, reuse>=2): csr; rest: csr }"), "no error");
  EXPECT_NE(
      message_of("columns(2){ columns(2){ rest: csr } }").find("column ranges cannot be nested"),
      std::string::npos);
  EXPECT_NE(message_of("columns(1025){ rest: csr }").find("at most 1024 ranges"),
            std::string::npos);
  EXPECT_NE(message_of("hyb(0,1)").find("takes the number of column ranges"), std::string::npos);
  EXPECT_NE(message_of("hyb(1,1)", 1).find("rank 1"), std::string::npos);
  EXPECT_EQ(message_of("{ rows(nnz<=4): elf(4); rest: csr }").find("format, line 1, column 17"), 0U)
      << message_of("{ rows(nnz<=4): elf(4); rest: csr }");
}

TEST(Composite, IsNoPlainFormat) {
  EXPECT_TRUE(CompositeFormat::is_composite(" hyb(2,3)"));
  EXPECT_TRUE(CompositeFormat::is_composite("{ rest: csr }"));
  EXPECT_FALSE(CompositeFormat::is_composite("csr"));
  EXPECT_FALSE(CompositeFormat::is_composite("(i,j) -> (i: dense, j: compressed)"));
  EXPECT_THROW(Format::parse("hyb(2,3)", 2), UserError);
}

}  // namespace
}  // namespace tulle
