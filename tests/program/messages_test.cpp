// Errors of the public interface and the positions they point at.
#include <gtest/gtest.h>

#include "tulle/tulle.h"
#include "tulle/type_names.h"

namespace tulle {
namespace {

const TensorSpec kA{.name = "A", .format = "csr", .rank = 2};
const TensorSpec kB{.name = "B", .format = "dense", .rank = 2};
constexpr const char* kProduct = "C[i,k] = A[i,j] * B[j,k]";

// The message of the error that `action` throws.
template <typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was refused";
}

// A matrix without entries, in CSR or dense format.
struct Matrix {
  Matrix(int64_t rows, int64_t columns)
      : pos(static_cast<size_t>(rows) + 1), values(static_cast<size_t>(rows * columns)) {
    sparse = {{rows, columns}, {{}, {{pos.data(), rows + 1}, {}}}, {}};
    dense = {{rows, columns}, {{}, {}}, {values.data(), rows * columns}};
  }
  std::vector<int32_t> pos;
  std::vector<float> values;
  TensorView sparse, dense;
};

class Nowhere final : public Memory {
  Block allocate(DType, int64_t, bool) override { return {}; }
};

TEST(Messages, OperandsThatAreMissingComeBeforeThoseThatAreTooMany) {
  TensorSpec other = kB;
  other.name = "b";
  EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {kA, other}); }),
            "index notation, line 1, column 19: there is no operand 'B' (did you mean 'b'?); the "
            "operands are A, b\n"
            "  C[i,k] = A[i,j] * B[j,k]\n"
            "                    ^^^^^^");
  EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {kA, kB, other}); }),
            "'b' is given, but no statement reads it; they read A, B. Remove it, or use it.");
  EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {kA, kB, kA}); }),
            "operand 'A' is given twice");
}

TEST(Messages, TypesOfIndicesAndRanksAreChecked) {
  for (const DType type : {DType::Bool, DType::Float32, DType::Float64}) {
    TensorSpec spec = kA;
    spec.index_type = type;
    EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {spec, kB}); }),
              "A: the index type " + std::string(long_name_of(type)) +
                  " was given, but positions and coordinates are int32 or int64");
  }
  for (const char* format : {"csr", "dense", "hyb(2,3)"}) {
    const TensorSpec spec{.name = "A", .format = format, .rank = -1};
    EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {spec, kB}); }),
              "A tensor cannot have rank -1; ranks are 0 to 64.");
    EXPECT_EQ(message_of([&] { describe_format(format, -1); }),
              "A tensor cannot have rank -1; ranks are 0 to 64.");
  }
}

TEST(Messages, RanksThatNoTensorHasAreRefused) {
  for (const int rank : {65, 1000000}) {
    const TensorSpec spec{.name = "A", .format = "csf", .rank = rank};
    const std::string refused =
        "A tensor cannot have rank " + std::to_string(rank) + "; ranks are 0 to 64.";
    EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {spec, kB}); }), refused);
    EXPECT_EQ(message_of([&] { describe_format("csf", rank); }), refused);
  }
  EXPECT_EQ(describe_format("csf", 64).levels.size(), 64U);
}

TEST(Messages, TypesThatAreNoneAreRefused) {
  TensorSpec values = kA, indices = kA;
  values.type = static_cast<DType>(77);
  indices.index_type = static_cast<DType>(77);
  EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {values, kB}); }),
            "A: no element type has the number 77; the types are bool, int32, int64, float16, "
            "bfloat16, float32, float64");
  EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {indices, kB}); }),
            "A: the index type ? was given, but positions and coordinates are int32 or int64");
}

TEST(Messages, FeaturesAreLookedAtBeforeTheFirstRun) {
  EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {kA, kB}, {.features = "mmx"}); }),
            "no preset of machine features is named 'mmx'; there are sse4.2, avx2 and avx512");
}

TEST(Messages, ArraysWithoutDataAreRefused) {
  const Matrix a(4, 5), b(5, 6);
  Nowhere memory;
  const auto program = Program::from_notation(kProduct, {kA, kB});
  TensorView dense = b.dense, positions = a.sparse, coordinates = a.sparse;
  dense.values.data = nullptr;
  positions.levels[1].pos.data = nullptr;
  coordinates.levels[1].crd.length = 2;
  EXPECT_EQ(message_of([&] { program->run({a.sparse, dense}, memory); }),
            "B: the array of values has 30 elements, but no data (null)");
  EXPECT_EQ(message_of([&] { program->run({positions, b.dense}, memory); }),
            "A: an array of positions has 5 elements, but no data (null)");
  EXPECT_EQ(message_of([&] { program->run({coordinates, b.dense}, memory); }),
            "A: an array of coordinates has 2 elements, but no data (null)");
}

TEST(Messages, SizesAreShownAtBothOperands) {
  const Matrix a(4, 5), b(3, 6);
  Nowhere memory;
  const auto program = Program::from_notation("\n  C[i,k] = A[i,j]  *  B[j,k]", {kA, kB});
  EXPECT_EQ(message_of([&] { program->run({a.sparse, b.dense}, memory); }),
            "index notation, line 2, column 25: the index 'j' has two extents: dimension 1 of 'A' "
            "is 5, dimension 0 of 'B' is 3; they must be equal\n"
            "    C[i,k] = A[i,j]  *  B[j,k]\n"
            "                 ^        ^");
}

TEST(Messages, EquationsAreShownAsTheyWereWritten) {
  const Matrix a(4, 5), b(3, 6);
  Nowhere memory;
  const auto program = Program::from_einsum(" ij, jk", {kA, kB});
  EXPECT_EQ(message_of([&] { program->run({a.sparse, b.dense}, memory); }),
            "einsum, line 1, column 6: the index 'j' has two extents: dimension 1 of operand 1 is "
            "5, dimension 0 of operand 2 is 3; they must be equal\n"
            "   ij, jk\n"
            "    ^  ^");
}

TEST(Messages, DimensionsOfSizeOneAreStretchedOnlyWhenTheyAre) {
  const Matrix a(4, 5), b(3, 6);
  Nowhere memory;
  ProgramOptions options;
  options.ones = {{1, 0}};
  const auto program = Program::from_einsum("ij,jk->ik", {kA, kB}, options);
  EXPECT_EQ(message_of([&] { program->run({a.sparse, b.dense}, memory); }),
            "operand 2 has size 3 along dimension 0, but the program was compiled for size 1");
  options.ones = {{1, 2}};
  EXPECT_EQ(message_of([&] { Program::from_einsum("ij,jk->ik", {kA, kB}, options); }),
            "the option `ones` names a dimension that no operand has");
}

TEST(Messages, SchedulesAreReadWhenTheProgramIsMade) {
  ProgramOptions options;
  options.schedule = "unroll(j, 2)\n unroll( q, 2 )";
  EXPECT_EQ(message_of([&] { Program::from_notation(kProduct, {kA, kB}, options); }),
            "schedule, line 2, column 10: the statement of 'C' does not have the index 'q'; it has "
            "i, k, j\n"
            "   unroll( q, 2 )\n"
            "           ^");
}

TEST(Messages, RefusedStepsAreShownAsTheyWereWritten) {
  const Matrix a(4, 5), b(5, 6);
  Nowhere memory;
  ProgramOptions options;
  options.schedule = "unroll(j,2) ;  parallel( k )";
  const auto program =
      Program::from_notation("C[i,k] = A[i,j] * B[j,k]; y[i] = A[i,j]", {kA, kB}, options);
  EXPECT_EQ(message_of([&] { program->run({a.sparse, b.dense}, memory); }),
            "schedule, line 1, column 16: for the statement of 'C': Only an outermost loop can be "
            "parallel, and the one over 'k' is not; move it outside with reorder first.\n"
            "  unroll(j,2) ;  parallel( k )\n"
            "                 ^^^^^^^^^^^^^");
}

TEST(Messages, IndicesAreCalledAsTheyWereWritten) {
  // The j of the second statement is a different index from the j of the first.
  const Matrix a(4, 5), b(5, 6);
  Nowhere memory;
  ProgramOptions options;
  options.schedule = "z: parallel(i); z: unroll(j, 3)";
  const auto program =
      Program::from_notation("y[i] = A[i,j]; z[i] = B[i,j] * y[j]", {kA, kB}, options);
  EXPECT_EQ(message_of([&] { program->run({a.sparse, b.dense}, memory); }),
            "index notation, line 1, column 34: the index 'j' has two extents: dimension 1 of 'B' "
            "is 6, dimension 0 of 'y' is 4; they must be equal\n"
            "  y[i] = A[i,j]; z[i] = B[i,j] * y[j]\n"
            "                            ^      ^");
  options.schedule = "z: parallel(j)";
  const auto refused = Program::from_notation("y[i] = A[i,j]; z[i] = B[i,j]", {kA, kB}, options);
  EXPECT_EQ(
      message_of([&] { refused->run({a.sparse, b.dense}, memory); }),
      "schedule, line 1, column 4: for the statement of 'z': Only an outermost loop can be "
      "parallel, and the one over 'j.1' is not; move it outside with reorder first. ('j.1' is "
      "the 'j' of this statement.)\n"
      "  z: parallel(j)\n"
      "     ^^^^^^^^^^^");
}

TEST(Messages, NotationIsDescribedWithoutOperands) {
  const NotationInfo info =
      describe_notation("T[i,k] = A[i,j] * B[j,k]; y[i] = T[i,k] * A[i,j]", "T: parallel(i)");
  EXPECT_EQ(info.operands, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(info.assigned, (std::vector<std::string>{"T", "y"}));
  EXPECT_EQ(message_of([] { describe_notation(kProduct, "tile(i)"); }).find("schedule, line 1"), 0);
  EXPECT_EQ(message_of([] { describe_notation("C[i] = A[j]"); }).find("index notation, line 1"), 0);
}

}  // namespace
}  // namespace tulle
