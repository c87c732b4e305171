// Interprets plans and schedules for GPUs and compares with the reference evaluator.
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "differential/bound_schedules.h"
#include "differential/matrix.h"

namespace tulle::differential {
namespace {

class BoundSchedule : public testing::TestWithParam<Bound> {};

TEST_P(BoundSchedule, IsRight) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    Case test = bound_case(GetParam(), seed);
    test.light = seed == 3;
    EXPECT_EQ(run_case(test, kInterpreted), "") << to_string(test);
  }
}

INSTANTIATE_TEST_SUITE_P(Kept, BoundSchedule, testing::ValuesIn(bound_schedules()),
                         [](const auto& entry) { return entry.param.name; });

// Widths that vectors divide or not, below and above the lanes of a warp, with one or several
// panels; rows with few and with many entries.
class GpuPlan : public testing::TestWithParam<int64_t> {
 protected:
  static void check(const char* text, std::vector<Operand> operands) {
    check(text, std::move(operands), {DType::Float32, DType::Float64, DType::Int32, DType::Bool});
  }
  static void check(const char* text, std::vector<Operand> operands,
                    const std::vector<DType>& types) {
    for (const double density : {0.1, 0.8}) {
      for (const DType type : types) {
        Case test{.text = text, .operands = operands};
        for (Operand& operand : test.operands) operand.type = type;
        test.operands[0].density = density;
        test.gpu = true;
        for (const bool small : {true, false}) {
          test.small_chunks = small;
          test.light = small == (density < 0.3);
          EXPECT_EQ(run_case(test, kInterpreted), "") << to_string(test);
        }
      }
    }
  }
};

TEST_P(GpuPlan, MultipliesByDense) {
  check("C[i,k] = A[i,j] * B[j,k]", {sparse("csr", {7, 45}), dense("B", {45, GetParam()})});
}

TEST_P(GpuPlan, SamplesProducts) {
  check("S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
        {sparse("csr", {7, 45}), dense("Q", {7, GetParam()}), dense("K", {45, GetParam()})});
}

TEST_P(GpuPlan, SumsRows) {
  check("y[i] = A[i,j] * x[j]", {sparse("csr", {5, GetParam()}), dense("x", {GetParam()})});
}

TEST_P(GpuPlan, ScalesRows) {
  check("C[i,j] = A[i,j] * d[i]", {sparse("csr", {5, GetParam()}), dense("d", {5})});
}

TEST_P(GpuPlan, AddsDense) {
  check("C[i,j] = X[i,j] + Y[i,j]", {dense("X", {5, GetParam()}), dense("Y", {5, GetParam()})});
}

TEST_P(GpuPlan, SamplesFunctionsOfProducts) {
  for (const char* text : {"S[i,j] = within(A[i,j], sum(d, Q[i,d] * K[j,d]))",
                           "S[i,j] = A[i,j] * abs(sum(d, Q[i,d] * K[j,d]) - 1)"}) {
    check(text, {sparse("csr", {7, 45}), dense("Q", {7, GetParam()}), dense("K", {45, GetParam()})},
          {DType::Float32, DType::Float64, DType::Int32});
  }
}

TEST_P(GpuPlan, Attends) {
  check("O[i,d] = softmax(j in A[i,j], sum(k, Q[i,k] * K[j,k])) * V[j,d]",
        {sparse("csr", {3, 20}), dense("Q", {3, GetParam()}), dense("K", {20, GetParam()}),
         dense("V", {20, 12})},
        {DType::Float32, DType::Float64});
}

TEST_P(GpuPlan, AttendsWithHeads) {
  check("O[i,h,d] = softmax(j in A[i,j], sum(k, Q[i,h,k] * K[j,h,k])) * V[j,h,d]",
        {sparse("csr", {3, 20}), dense("Q", {3, 2, 6}), dense("K", {20, 2, 6}),
         dense("V", {20, 2, GetParam()})},
        {DType::Float32});
}

TEST_P(GpuPlan, WeighsRowsByEntries) {
  check("O[i,d] = softmax(j in A[i,j], A[i,j]) * V[j,d]",
        {sparse("csr", {7, 45}), dense("V", {45, GetParam()})}, {DType::Float32, DType::Float64});
}

TEST_P(GpuPlan, TakesLogarithmsOfRows) {
  check("y[i] = logsumexp(j in A[i,j], sum(k, Q[i,k] * K[j,k]))",
        {sparse("csr", {7, 45}), dense("Q", {7, GetParam()}), dense("K", {45, GetParam()})},
        {DType::Float32, DType::Float64});
}

TEST_P(GpuPlan, FindsTheLargestOfRows) {
  check("y[i] = argmax(j in A[i,j], A[i,j] * x[j])",
        {sparse("csr", {7, GetParam()}), dense("x", {GetParam()})},
        {DType::Float32, DType::Float64, DType::Int32});
}

TEST_P(GpuPlan, TakesMaximaOfRows) {
  check("y[i] = max(j in A[i,j], A[i,j] * x[j])",
        {sparse("csr", {7, GetParam()}), dense("x", {GetParam()})},
        {DType::Float32, DType::Float64, DType::Int32});
}

INSTANTIATE_TEST_SUITE_P(Widths, GpuPlan, testing::Values(0, 1, 2, 6, 16, 32, 100, 128, 150, 300));

// Formats with rows that are padded, in blocks, along diagonals or only stored if they have
// entries, and parts of composites with such formats.
class GpuFormat : public testing::TestWithParam<const char*> {
 protected:
  static void check(const char* text, const std::vector<Operand>& operands) {
    for (const double density : {0.05, 0.5}) {
      for (const DType type : {DType::Float32, DType::Float64, DType::Float16, DType::Int64}) {
        Case test{.text = text, .operands = operands};
        for (Operand& operand : test.operands) operand.type = type;
        test.operands[0].density = density;
        test.gpu = true;
        for (const bool small : {true, false}) {
          test.small_chunks = small;
          test.light = small == (density < 0.3);
          EXPECT_EQ(run_case(test, kInterpreted), "") << to_string(test);
        }
      }
    }
  }
};

TEST_P(GpuFormat, MultipliesByDense) {
  for (const int64_t width : {1, 6, 32, 150})
    check("C[i,k] = A[i,j] * B[j,k]", {sparse(GetParam(), {9, 21}), dense("B", {21, width})});
}

TEST_P(GpuFormat, MultipliesByAVector) {
  check("y[i] = A[i,j] * x[j]", {sparse(GetParam(), {23, 21}), dense("x", {21})});
}

TEST_P(GpuFormat, SamplesProducts) {
  check("S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
        {sparse(GetParam(), {9, 21}), dense("Q", {9, 20}), dense("K", {21, 20})});
}

TEST_P(GpuFormat, SamplesFunctionsOfProducts) {
  check("S[i,j] = A[i,j] * relu(sum(d, Q[i,d] * K[j,d]))",
        {sparse(GetParam(), {9, 21}), dense("Q", {9, 20}), dense("K", {21, 20})});
}

TEST_P(GpuFormat, TakesMaximaOfRows) {
  check("y[i] = max(j in A[i,j], A[i,j] * x[j])", {sparse(GetParam(), {9, 21}), dense("x", {21})});
}

INSTANTIATE_TEST_SUITE_P(Formats, GpuFormat,
                         testing::Values("ell(21)", "dell(21)", "pieces(4)", "dcsr", "dbsr(2,3)",
                                         "bsr(4,4)", "dia", "bitmap", "ragged", "sr-bcrs(2,4)",
                                         "coo", "hyb(1,2)", "hyb(2,3)", "dia-csr(-1,2)",
                                         "bsr-csr(2,2)"));

// Threads run chunks of the outermost loop. There are fewer threads than units of work, as many, or
// more.
class GpuChunks : public testing::TestWithParam<int> {
 protected:
  static void check(const char* text, std::vector<Operand> operands, const char* schedule = "",
                    const char* out_format = "") {
    for (const double density : {0.0, 0.05, 0.5}) {
      Case test{.text = text, .operands = operands};
      if (*out_format) test.out_formats["C"] = out_format;
      test.operands[0].density = density;
      test.schedule = schedule;
      test.gpu = true;
      test.threads = GetParam();
      EXPECT_EQ(run_case(test, kInterpreted), "") << to_string(test);
    }
  }
};

TEST_P(GpuChunks, OfRowsAndEntries) {
  check("C[i,k] = A[i,j] * B[j,k]",
        {sparse("csr", {19, 15}), {.name = "B", .format = "csr", .sizes = {15, 11}}});
  check("C[i,j] = A[i,j] * x[i]", {sparse("ragged", {19, 15}), dense("x", {19})}, "parallel(i)");
  check("y[i] = A[i,j] * x[j]", {sparse("csr", {19, 15}), dense("x", {15})}, "parallel(i, by=nnz)");
}

// If rows have several values per entry, the kernel must find the number of their positions.
TEST_P(GpuChunks, OfRowsOfBlocks) {
  check("C[i,j] = A[i,j] + B[i,j]",
        {sparse("bsr(2,3)", {18, 15}), {.name = "B", .format = "bsr(2,3)", .sizes = {18, 15}}});
  check("C[i,j,k] = A[i,j,k] * x[i]",
        {{.name = "A",
          .format = "(i,j,k) -> (i: dense, j: compressed, k: compressed)",
          .sizes = {9, 6, 5}},
         dense("x", {9})},
        "parallel(i, by=nnz)");
}

TEST_P(GpuChunks, OfStoredCoordinates) {
  for (const char* format : {"coo", "dcsr"})
    check("C[i,j] = A[i,j] * x[i]", {sparse(format, {18, 15}), dense("x", {18})}, "parallel(i)");
  check("C[i,j] = A[i,j] * 2", {sparse("dbsr(2,3)", {18, 15})}, "parallel(i.outer)");
  check("C[i] = A[i] * x[i]", {{.name = "A", .format = "coo", .sizes = {40}}, dense("x", {40})},
        "parallel(i)");
}

TEST_P(GpuChunks, OfEqualWork) {
  check("y[i] = A[i,j] * x[j]", {sparse("csr", {19, 15}), dense("x", {15})},
        "precompute(acc); parallel(i, by=merge)");
  check("C[i,k] = A[i,j] * B[j,k]", {sparse("csr", {9, 45}), dense("B", {45, 6})},
        "precompute(acc, k); parallel(i, by=merge)");
  // More chunks than rows and entries.
  check("C[i,k] = A[i,j] * B[j,k]", {sparse("csr", {9, 45}), dense("B", {45, 16})},
        "precompute(acc, k); vectorize(k, 4); parallel(i, by=merge)");
}

TEST_P(GpuChunks, OfEqualWorkThatIsAppended) {
  for (const char* from : {"csr", "coo"}) {
    Operand entries = sparse(from, {19, 35});
    entries.spread = Spread::EmptyRows;
    for (const char* to : {"csr", "coo", "csc"})
      check("C[i,j] = A[i,j] * x[i]", {entries, dense("x", {19})}, "parallel(i, by=merge)", to);
    check("C[i,j] = A[i,j]", {sparse(from, {1, 300})}, "parallel(i, by=merge)", "csr");
  }
  for (const double density : {0.0, 0.1, 0.9}) {
    Operand other{.name = "B", .format = "csr", .sizes = {19, 35}, .density = density};
    other.spread = Spread::EmptyRows;
    for (const char* text :
         {"C[i,j] = A[i,j] + B[i,j]", "C[i,j] = A[i,j] * B[i,j]", "C[i,j] = A[i,j] * 2 - B[i,j]"})
      check(text, {sparse("csr", {19, 35}), other}, "parallel(i, by=merge)");
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, GpuChunks, testing::Values(1, 2, 3, 7, 25, 64, 200));

// Converts sorted coordinates, the form of a part's entries, to the formats of parts.
class GpuPartFormat : public testing::TestWithParam<const char*> {};

TEST_P(GpuPartFormat, TakesEntries) {
  for (const double density : {0.0, 0.05, 0.5}) {
    for (const DType type : {DType::Float32, DType::BFloat16, DType::Int64}) {
      for (const bool batch : {false, true}) {
        Case test{.text = batch ? "T[b,i,j] = A[b,i,j]" : "T[i,j] = A[i,j]",
                  .operands = {batch ? sparse("coo", {3, 5, 21}) : sparse("coo", {9, 21})},
                  .out_formats = {{"T", GetParam()}}};
        test.operands[0].type = type;
        test.operands[0].density = density;
        test.gpu = true;
        std::string refused;
        EXPECT_EQ(run_case(test, kInterpreted, &refused), "") << to_string(test);
        if (!batch) {
          EXPECT_EQ(refused, "");
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, GpuPartFormat,
                         testing::Values("coo", "csr", "csc", "dcsr", "ell(21)", "dell(21)",
                                         "pieces(4)", "dia", "bsr(4,4)", "dbsr(2,3)", "ragged",
                                         "bitmap", "sr-bcrs(2,4)"));

class GpuMatrix : public testing::TestWithParam<Operation> {};

// The whole sample with TULLE_TEST_FULL=1. Otherwise every few cells of it, with every condition
// and type, and every format of an operand.
TEST_P(GpuMatrix, EveryCellIsRight) {
  const size_t step = std::getenv("TULLE_TEST_FULL") ? 1 : 3;
  const std::vector<Case> todo = cells(GetParam(), false);
  size_t count = 0, wrong = 0;
  for (size_t at = 0; at < todo.size(); at += step) {
    Case test = todo[at];
    test.gpu = true;
    test.threads = 7;
    ++count;
    const std::string found = run_case(test, kInterpreted);
    if (found.empty()) continue;
    ++wrong;
    if (wrong < 4) ADD_FAILURE() << found << "\n" << to_string(test);
  }
  std::cout << "gpu matrix  " << GetParam().name << " " << count << " cells " << count - wrong
            << " right\n";
  EXPECT_EQ(wrong, 0) << "of " << count;
}

INSTANTIATE_TEST_SUITE_P(Operations, GpuMatrix, testing::ValuesIn(operations()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
