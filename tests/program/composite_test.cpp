// Composite formats through the public interface.
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "tulle/tulle.h"

namespace tulle {
namespace {

class Blocks final : public Memory {
 public:
  Block allocate(DType type, int64_t length, bool zeroed) override {
    const auto bytes = static_cast<size_t>(length * size_of(type)) / 64 * 64 + 64;
    blocks_.emplace_back(std::aligned_alloc(64, bytes), &std::free);
    if (zeroed) std::memset(blocks_.back().get(), 0, bytes);
    return {blocks_.back().get(), nullptr};
  }

 private:
  std::vector<std::unique_ptr<void, decltype(&std::free)>> blocks_;
};

//     1 . 2 3
// A = . 4 . .     3 x 4, and a vector of ones
//     . . . 5
const std::vector<int32_t> kPositions = {0, 3, 4, 5};
const std::vector<int32_t> kCoordinates = {0, 2, 3, 1, 3};
const std::vector<float> kValues = {1, 2, 3, 4, 5};
const std::vector<float> kOnes = {1, 1, 1, 1};
const TensorSpec kMatrix{.name = "A", .format = "csr", .rank = 2};

TensorView matrix() {
  return {{3, 4}, {{}, {{kPositions.data(), 4}, {kCoordinates.data(), 5}}}, {kValues.data(), 5}};
}

// The parts as one operand.
TensorView view_of(const std::vector<ResultTensor>& parts) {
  TensorView view{parts[0].sizes, {}, {}};
  for (const ResultTensor& part : parts) {
    TensorView one{part.sizes, {}, {part.values.data, part.values.length}};
    for (size_t l = 0; l < part.pos.size(); ++l) {
      one.levels.push_back(
          {{part.pos[l].data, part.pos[l].length}, {part.crd[l].data, part.crd[l].length}});
    }
    view.parts.push_back(one);
  }
  return view;
}

TEST(Composite, IsBuiltAndMultiplied) {
  for (const std::string format :
       {"hyb(2,1)", "dia-csr(0,0)", "bsr-csr(2,2)", "{ rows(nnz<=1): coo; rest: csr }"}) {
    Blocks memory;
    const TensorView composite = view_of(decompose(format, kMatrix, matrix(), memory));
    TensorSpec spec = kMatrix;
    spec.format = format;
    EXPECT_NO_THROW(validate(spec, composite)) << format;
    const TensorSpec vector{.name = "x", .format = "dense", .rank = 1};
    const auto program = Program::from_notation("y[i] = A[i,j] * x[j]", {spec, vector});
    const TensorView ones{{4}, {{}}, {kOnes.data(), 4}};
    const auto results = program->run({composite, ones}, memory, RunOptions{.threads = 2});
    const auto* y = static_cast<const float*>(results[0].values.data);
    EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{6, 4, 5})) << format;
    EXPECT_EQ(program->results()[0].sizes_from[0].operand, 0);
    EXPECT_NE(program->explain({composite, ones}).find("A.part0: "), std::string::npos);
  }
}

TEST(Composite, EntriesAreSelected) {
  Blocks memory;
  const std::vector<int32_t> bounds = {0, 5}, rows = {0, 0, 0, 1, 2};
  const TensorView entries{{3, 4},
                           {{{bounds.data(), 2}, {rows.data(), 5}}, {{}, {kCoordinates.data(), 5}}},
                           {kValues.data(), 5}};
  TensorSpec spec = kMatrix;
  EXPECT_THROW(select_parts("hyb(1,0)", spec, entries, memory), UserError);
  spec.format = "coo";
  const SelectedEntries selected = select_parts("hyb(1,0)", spec, entries, memory);
  const auto* order = static_cast<const int64_t*>(selected.order.data);
  EXPECT_EQ(std::vector<int64_t>(order, order + selected.order.length),
            (std::vector<int64_t>{3, 4, 0, 1, 2}));
  EXPECT_EQ(selected.counts, (std::vector<int64_t>{2, 3}));
}

// Parts in coordinate format are gathered into the caller's memory, all others are converted.
TEST(Composite, PartsAreTheCallers) {
  Blocks memory;
  for (const std::string given : {"csr", "csc", "bsr(2,2)"}) {
    ProgramOptions options;
    options.out_formats["T"] = given;
    const auto program = Program::from_notation("T[i,j] = A[i,j]", {kMatrix}, options);
    const ResultTensor matrix_in = program->run({matrix()}, memory)[0];
    TensorView view{matrix_in.sizes, {}, {matrix_in.values.data, matrix_in.values.length}};
    for (size_t l = 0; l < matrix_in.pos.size(); ++l) {
      view.levels.push_back({{matrix_in.pos[l].data, matrix_in.pos[l].length},
                             {matrix_in.crd[l].data, matrix_in.crd[l].length}});
    }
    TensorSpec spec = kMatrix;
    spec.format = given;
    for (const std::string format :
         {"{ band(0,0): coo; rest: csc }", "(i,j) -> (j,i){ rows(nnz<=1): coo; rest: coo }"}) {
      for (const ResultTensor& part : decompose(format, spec, view, memory)) {
        for (const auto* arrays : {&part.pos, &part.crd}) {
          for (const ResultArray& array : *arrays) EXPECT_EQ(array.shared_operand, -1);
        }
      }
      TensorSpec composite = kMatrix;
      composite.format = format;
      EXPECT_NO_THROW(validate(composite, view_of(decompose(format, spec, view, memory))));
    }
  }
}

TEST(Composite, RefusesWhatDoesNotFit) {
  Blocks memory;
  EXPECT_THROW(decompose("csr", kMatrix, matrix(), memory), UserError);
  TensorSpec spec = kMatrix;
  spec.format = "dia-csr(0,0)";
  const auto program = Program::from_notation("s = A[i,j]", {spec});
  EXPECT_THROW(program->run({matrix()}, memory), UserError);
  ProgramOptions options;
  options.out_formats["C"] = "hyb(1,1)";
  EXPECT_THROW(Program::from_notation("C[i,j] = A[i,j]", {kMatrix}, options), UserError);
}

TEST(Composite, IsDescribed) {
  const FormatInfo info = describe_format("dia-csr(0,1)", 2);
  EXPECT_EQ(info.text, "{ band(0,1): dia; rest: csr }");
  EXPECT_EQ(info.name, "dia-csr(0,1)");
  EXPECT_EQ(info.sorted, "coo");
  ASSERT_EQ(info.parts.size(), 2U);
  EXPECT_EQ(info.parts[0].selector, "band(0,1)");
  EXPECT_EQ(info.parts[0].format, "dia");
}

}  // namespace
}  // namespace tulle
