// Errors that point at source positions.
#include "support/source.h"

#include <gtest/gtest.h>

#include "tulle/error.h"

namespace tulle {
namespace {

Span span(std::string text, size_t offset, size_t length) {
  return {std::make_shared<const Source>(Source{std::move(text), "text"}), offset, length};
}

TEST(Source, ShowsTheLine) {
  EXPECT_EQ(point_at(span("one\ntwo three\nfour", 8, 5), "wrong"),
            "text, line 2, column 5: wrong\n  two three\n      ^^^^^");
}

TEST(Source, StaysInTheLine) {
  EXPECT_EQ(point_at(span("one two  \nthree", 4, 11), "wrong"),
            "text, line 1, column 5: wrong\n  one two\n      ^^^");
}

TEST(Source, PointsBehindTheEnd) {
  EXPECT_EQ(point_at(span("one", 3, 0), "more"), "text, line 1, column 4: more\n  one\n     ^");
  EXPECT_EQ(point_at(span("", 0, 0), "more"), "text, line 1, column 1: more\n  \n  ^");
}

TEST(Source, CountsCharacters) {
  EXPECT_EQ(point_at(span("\xc3\xa9\t\xc3\xa9x", 5, 1), "wrong"),
            "text, line 1, column 4: wrong\n  \xc3\xa9\t\xc3\xa9x\n   \t ^");
}

TEST(Source, PointsAtTwoPlacesOfALine) {
  const Span second = span("one two\nthree", 4, 3);
  EXPECT_EQ(point_at(second, "wrong", {second.source, 0, 3}),
            "text, line 1, column 5: wrong\n  one two\n  ^^^ ^^^");
  EXPECT_EQ(point_at(second, "wrong", {second.source, 8, 5}),
            "text, line 1, column 5: wrong\n  one two\n      ^^^");
}

TEST(Source, WithoutOneThereIsTheMessage) {
  EXPECT_EQ(point_at({}, "wrong"), "wrong");
  EXPECT_THROW(fail_at({}, "wrong"), UserError);
  EXPECT_THROW(unsupported_at({}, "wrong"), Unsupported);
}

}  // namespace
}  // namespace tulle
