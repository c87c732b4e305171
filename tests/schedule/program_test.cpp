// Tests of the text of nest programs: round trips, and carets at mistakes.
#include "schedule/program.h"

#include <gtest/gtest.h>

#include "tulle/error.h"

namespace tulle::schedule {
namespace {

// A program with every kind of line.
constexpr std::string_view kFull = R"(program(B, A, D; j, i) -> (C)
operand D: f64, i64, (i) -> (i: compressed)
same B_as0_0 = i
same B_as0_1 = j
nest {
  operand B: f32, i32, csc
  result B_as0_entries: f32, i32, (i,j) -> (i: compressed nonunique unordered, j: singleton nonunique unordered)
  forall B_as0_1 {
    forall B_as0_0 {
      B_as0_entries[B_as0_0,B_as0_1] = B[B_as0_0,B_as0_1]
    }
  }
}
schedule: parallel(B_as0_1, by=nnz)
sort B_as0_entries into B_as0_sorted
nest {
  operand A: f32, i32, csr
  operand B_as0_sorted: f32, i32, (i,j) -> (i: compressed nonunique, j: singleton nonunique)
  result C: f32, i32, like A, csr
  forall i {
    forall j {
      C[i,j] = A[i,j] * B_as0_sorted[i,j]
    }
  }
}
)";

std::string message_of(const std::string& text) {
  try {
    parse_program(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// The text with one part replaced.
std::string changed(std::string_view from, std::string_view to) {
  std::string text(kFull);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, std::string_view part) {
  const std::string message = message_of(text);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(ProgramText, RoundTrips) { EXPECT_EQ(to_string(parse_program(kFull)), kFull); }

TEST(ProgramText, SaysWhatStandsAroundTheNests) {
  const NestProgram program = parse_program(kFull);
  EXPECT_EQ(program.operands, (std::vector<std::string>{"B", "A", "D"}));
  EXPECT_EQ(program.indices, (std::vector<std::string>{"j", "i"}));
  EXPECT_EQ(program.same_extents.at("B_as0_1"), "j");
  EXPECT_EQ(program.type_of("D").type, DType::Float64);
  EXPECT_EQ(program.pattern_of("C"), "A");
  EXPECT_EQ(to_string(std::get<ScheduledNest>(program.steps[0]).schedule),
            "parallel(B_as0_1, by=nnz)");
}

TEST(ProgramText, OneNestNeedsNothingAroundIt) {
  const NestProgram program = parse_program(R"(nest {
  operand x: f32
  operand A: f32, csr
  result y: f32
  forall i { forall j { y[i] += A[i,j] * x[j] } }
}
schedule: precompute(acc))");
  EXPECT_EQ(program.operands, (std::vector<std::string>{"A", "x"}));
  EXPECT_EQ(program.indices, (std::vector<std::string>{"i", "j"}));
  EXPECT_EQ(program.results, (std::vector<std::string>{"y"}));
  EXPECT_EQ(parse_program(to_string(program)).operands, program.operands);
  EXPECT_EQ(to_string(std::get<ScheduledNest>(program.steps[0]).schedule), "precompute(acc)");
}

TEST(ProgramText, PointsAtMistakes) {
  expect_refused(changed("program(B, A, D;", "program(B, A, D, A;"),
                 "line 1, column 18: 'A' occurs twice in one list");
  expect_refused(changed("program(B, A, D;", "program(B, D;"), "the nest reads 'A', which is no");
  expect_refused(changed("D; j, i)", "D; j)"), "'i' is no index of the program");
  expect_refused(changed("same B_as0_1 = j\n", ""), "nothing tells the extent of 'B_as0_1'");
  expect_refused(changed("same B_as0_1", "same B_as0_0"), "the index 'B_as0_0' already exists");
  expect_refused(changed("operand D: f64, i64, (i) -> (i: compressed)\n", ""),
                 "line 1, column 15: no nest reads the operand 'D'");
  expect_refused(changed("operand D: f64, i64, (i) -> (i: compressed)", "operand D: f64, csr"),
                 "expected an operand with its format in full");
  expect_refused(changed("operand D: f64", "operand E: f64"), "'E' is no operand");
  expect_refused(changed("-> (C)", "-> (C, E)"), "'E' is a result, and no nest builds it");
  expect_refused(changed("sort B_as0_entries", "sort B_entries"), "'B_entries' is sorted, and no");
  expect_refused(changed("into B_as0_sorted", "into B_ordered"), "B_as0_sorted");
  expect_refused(changed("sort B_as0", "sorts B_as0"), "line 15, column 1: expected a nest or a");
  expect_refused(changed("parallel(B_as0_1", "paralel(B_as0_1"), "schedule, line 14, column 11");
  expect_refused("program(; ) -> ()", "expected a nest");
}

}  // namespace
}  // namespace tulle::schedule
