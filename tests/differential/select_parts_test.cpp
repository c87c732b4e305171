// Compares the host programs that assign entries to parts and gather them with counting.
#include "lower/programs/select_parts.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "codegen/assemble.h"
#include "codegen/emit.h"
#include "composite/part_programs.h"
#include "differential/default_plans.h"
#include "differential/expected_parts.h"
#include "differential/selected_parts.h"
#include "loop/interpret.h"
#include "loop/plain_names.h"
#include "loop/print.h"
#include "passes/pipeline.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::differential {
namespace {

using Coordinates = std::vector<std::vector<int64_t>>;  // by dimension
using Entries = SortedEntries;
using Selected = SelectedParts;

// Sorted entries, some rows full, some empty.
Entries draw_entries(const std::vector<int64_t>& sizes, unsigned seed) {
  std::mt19937 random(seed);
  Entries entries{sizes, Coordinates(sizes.size())};
  std::vector<int64_t> at(sizes.size(), 0);
  int64_t all = 1;
  for (const int64_t size : sizes) all *= size;
  uint32_t percent = 0;
  for (int64_t number = 0; number < all; ++number) {
    int64_t rest = number;
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
    if (at.back() == 0) percent = random() % 4 * 30;
    if (random() % 100 >= percent) continue;
    for (size_t d = 0; d < sizes.size(); ++d) entries.coordinates[d].push_back(at[d]);
  }
  return entries;
}

Selected expected(const CompositeFormat& format, const Entries& entries) {
  const ExpectedParts parts(format, entries.sizes, entries.coordinates);
  const int none = static_cast<int>(format.parts().size());
  Selected found;
  for (int part = 0; part <= none; ++part) {
    found.begins.push_back(static_cast<int64_t>(found.order.size()));
    for (size_t e = 0; e < entries.count(); ++e) {
      if (parts[e] == (part < none ? part : -1)) found.order.push_back(static_cast<int64_t>(e));
    }
  }
  return found;
}

loop::HostProgram after_passes(loop::HostProgram program) {
  return passes::run_passes(std::move(program),
                            {.backend = Backend::Gpu, .masks = false, .verify = true})
      .program;
}

constexpr const char* kManyRounds =
    "{ columns(3){ rows(nnz<=1): csr; blocks(2,2, fill>=0.75): csr }; windows(2, reuse>=1.1): csr; "
    "rows(nnz<=2): csr; blocks(2,4, fill>=0.25): csr; rest: coo }";

const char* const kFormats[] = {
    "hyb(1,2)",
    "hyb(3,1)",
    "dia-csr(-2,1)",
    "bsr-csr(2,3)",
    "{ rows(nnz>=5): csr; columns(1,4): coo; rows(nnz<=1): ell(1); band(0,0): dia; rest: csr }",
    "{ windows(3, reuse>=1.5): csr; rest: csr }",
    "columns(2){ windows(2, reuse>=1.25): csr; blocks(3,2, fill>=0.5): bsr(3,2); rest: csr }",
    kManyRounds,
    "{ columns(0,3): csr; columns(4){ band(-1,1): csr }; rows(nnz<=3): csr; rest: csr }",
    "columns(40){ rows(nnz<=1): csr; rest: csr }",
};

std::string name_of_test(const testing::TestParamInfo<const char*>& entry) {
  std::string name = concat("f", entry.index, "_", entry.param);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name.substr(0, 40);
}

class SelectProgram : public testing::TestWithParam<const char*> {
 protected:
  // Options with chunks of few entries and small blocks.
  static lower::Options small(Backend backend) {
    return {backend, {.work_per_chunk = 5, .threads_per_block = 4}};
  }
};

TEST_P(SelectProgram, GivesOutWhatCountingDoes) {
  for (const auto& sizes : std::vector<std::vector<int64_t>>{
           {9, 7}, {1, 1}, {0, 5}, {6, 0}, {13, 20}, {3, 4, 5}, {2, 1, 9}, {2, 2, 3, 4}}) {
    const CompositeFormat format =
        CompositeFormat::parse(GetParam(), static_cast<int>(sizes.size()));
    for (const DType index_type : {DType::Int32, DType::Int64}) {
      const auto for_cpu = lower::select_parts(format, index_type, small(Backend::Cpu));
      const auto for_gpu = lower::select_parts(format, index_type, small(Backend::Gpu));
      for (unsigned seed = 0; seed < 4; ++seed) {
        const Entries entries = draw_entries(sizes, seed);
        const Selected wanted = expected(format, entries);
        for (const auto* program : {&for_cpu, &for_gpu})
          EXPECT_EQ(interpreted(*program, entries, index_type), wanted)
              << testing::PrintToString(sizes);
      }
    }
  }
}

TEST_P(SelectProgram, SurvivesPasses) {
  const CompositeFormat format = CompositeFormat::parse(GetParam(), 2);
  const auto program = after_passes(lower::select_parts(format, DType::Int32, small(Backend::Gpu)));
  for (const auto& sizes : {std::vector<int64_t>{11, 9}, {0, 0}}) {
    const Entries entries = draw_entries(sizes, 5);
    EXPECT_EQ(interpreted(program, entries, DType::Int32), expected(format, entries));
  }
}

TEST_P(SelectProgram, IsTakenByTheAssembler) {
  const auto program = after_passes(
      lower::select_parts(CompositeFormat::parse(GetParam(), 3), DType::Int32, {Backend::Gpu}));
  codegen::Module module = codegen::emit_gpu(program.kernels, codegen::gpu_target("sm_90"));
  codegen::optimise(module);
  EXPECT_EQ(codegen::complaints_of_ptxas(codegen::ptx(module), "sm_90"), "");
}

// Memory that lives as long as the object.
class Blocks final : public Memory {
 public:
  Block allocate(DType type, int64_t length, bool) override {
    const auto bytes = static_cast<size_t>(length * size_of(type)) / 64 * 64 + 64;
    blocks_.emplace_back(std::aligned_alloc(64, bytes), &std::free);
    return {blocks_.back().get(), nullptr};
  }

 private:
  std::vector<std::unique_ptr<void, decltype(&std::free)>> blocks_;
};

// The entries as a tensor of coordinates, with their numbers as values.
struct Tensor {
  Tensor(const Entries& entries, DType index_type) : values(entries.count()) {
    std::iota(values.begin(), values.end(), 0.0F);
    view.sizes = entries.sizes;
    view.values = {values.data(), static_cast<int64_t>(values.size())};
    for (const auto& numbers : entries.coordinates) {
      coordinates.push_back(array_of(numbers, index_type));
      view.levels.push_back({{}, {coordinates.back().bytes.data(), view.values.length}});
    }
    spec = {"A", "coo", DType::Float32, index_type, static_cast<int>(entries.sizes.size()), {}};
  }

  std::vector<float> values;
  std::vector<loop::Array> coordinates;
  TensorView view;
  TensorSpec spec;
};

template <typename T>
std::vector<T> vector_of(const ResultArray& array) {
  const auto* data = static_cast<const T*>(array.data);
  return std::vector<T>(data, data + array.length);
}

TEST_P(SelectProgram, RunsCompiled) {
  for (const auto& sizes : {std::vector<int64_t>{40, 30}, {3, 14, 5}, {0, 4}}) {
    const CompositeFormat format =
        CompositeFormat::parse(GetParam(), static_cast<int>(sizes.size()));
    for (const DType index_type : {DType::Int32, DType::Int64}) {
      const Entries entries = draw_entries(sizes, 3);
      const Selected wanted = expected(format, entries);
      const Tensor tensor(entries, index_type);
      Blocks memory;
      const RunOptions options{.threads = 3};
      const SelectedEntries found =
          select_by_program(format, tensor.spec, tensor.view, memory, options);
      EXPECT_EQ(vector_of<int64_t>(found.order), wanted.order);
      ASSERT_EQ(found.counts.size() + 1, wanted.begins.size());
      for (size_t p = 0; p < found.counts.size(); ++p) {
        EXPECT_EQ(found.counts[p], wanted.begins[p + 1] - wanted.begins[p]);
        const ResultTensor part =
            gather_by_program(tensor.spec, tensor.view, found.order, wanted.begins[p],
                              found.counts[p], memory, options);
        const auto first = wanted.order.begin() + wanted.begins[p];
        EXPECT_EQ(vector_of<float>(part.values),
                  std::vector<float>(first, first + found.counts[p]));
        if (index_type == DType::Int32) continue;
        EXPECT_EQ(vector_of<int64_t>(part.pos[0]), (std::vector<int64_t>{0, found.counts[p]}));
        for (size_t d = 0; d < sizes.size(); ++d) {
          std::vector<int64_t> coordinates;
          for (int64_t at = 0; at < found.counts[p]; ++at)
            coordinates.push_back(entries.coordinates[d][static_cast<size_t>(first[at])]);
          EXPECT_EQ(vector_of<int64_t>(part.crd[d]), coordinates);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SelectProgram, testing::ValuesIn(kFormats), name_of_test);
INSTANTIATE_TEST_SUITE_P(OfDefaultPlans, SelectProgram, testing::ValuesIn(built_formats()),
                         name_of_test);

// The numbers of the entries in each part.
using Parts = std::vector<std::vector<int64_t>>;

Parts parts_in(const Selected& selected) {
  Parts parts;
  for (size_t p = 0; p + 1 < selected.begins.size(); ++p) {
    parts.emplace_back(selected.order.begin() + selected.begins[p],
                       selected.order.begin() + selected.begins[p + 1]);
  }
  return parts;
}

Parts parts_of(const std::string& format, const std::vector<int64_t>& sizes,
               const Coordinates& coordinates) {
  const auto composite = CompositeFormat::parse(format, static_cast<int>(sizes.size()));
  return parts_in(interpreted(lower::select_parts(composite, DType::Int64, {Backend::Cpu}),
                              {sizes, coordinates}, DType::Int64));
}

TEST(SelectParts, ByLengthOfRows) {
  const Coordinates entries = {{0, 0, 0, 1, 3, 3}, {0, 2, 4, 1, 0, 4}};
  EXPECT_EQ(parts_of("{ rows(nnz<=1): csr; rows(nnz>=3): csr; rest: csr }", {4, 5}, entries),
            (Parts{{3}, {0, 1, 2}, {4, 5}}));
  // Within the column ranges [0, 3) and [3, 5).
  EXPECT_EQ(parts_of("columns(2){ rows(nnz<=1): csr; rest: csr }", {4, 5}, entries),
            (Parts{{3, 4}, {0, 1}, {2, 5}, {}}));
}

TEST(SelectParts, ByBandAndColumns) {
  const Coordinates entries = {{0, 0, 1, 1, 2}, {0, 2, 0, 2, 2}};
  EXPECT_EQ(parts_of("{ band(0,1): dia; columns(0,1): csr; rest: csr }", {3, 3}, entries),
            (Parts{{0, 3, 4}, {2}, {1}}));
}

TEST(SelectParts, ByBlocks) {
  const Coordinates entries = {{0, 0, 0, 1, 1, 2}, {0, 1, 3, 0, 2, 3}};
  // The fills of the 2 x 2 blocks: three of four, two of four, one of four.
  EXPECT_EQ(parts_of("{ blocks(2,2, fill>=0.75): bsr(2,2); rest: csr }", {3, 4}, entries),
            (Parts{{0, 1, 3}, {2, 4, 5}}));
  EXPECT_EQ(parts_of("{ blocks(2,2, fill>=0.5): bsr(2,2); rest: csr }", {3, 4}, entries),
            (Parts{{0, 1, 2, 3, 4}, {5}}));
}

TEST(SelectParts, ByReuseOfColumns) {
  const Coordinates entries = {{0, 1, 1, 2, 3}, {1, 1, 2, 0, 3}};
  EXPECT_EQ(parts_of("{ windows(2, reuse>=1.5): csr; rest: csr }", {4, 4}, entries),
            (Parts{{0, 1, 2}, {3, 4}}));
}

TEST(SelectParts, OfEveryMatrixOfABatch) {
  const Coordinates entries = {{0, 0, 1, 1}, {0, 1, 0, 0}, {0, 0, 0, 1}};
  EXPECT_EQ(parts_of("{ rows(nnz<=1): csr; rest: csr }", {2, 2, 2}, entries),
            (Parts{{0, 1}, {2, 3}}));
  EXPECT_EQ(parts_of("{ blocks(2,1, fill>=1): csr; rest: csr }", {2, 2, 2}, entries),
            (Parts{{0, 1}, {2, 3}}));
}

// Sequences of selectors with and without column ranges, for matrices and batches.
TEST(SelectParts, AgreesWithCounting) {
  std::mt19937 random(11);
  const auto below = [&](int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(count));
  };
  for (int run = 0; run < 400; ++run) {
    std::string format;
    for (int64_t item = 0, items = 1 + below(3); item < items; ++item) {
      const std::string selectors[] = {
          concat("rows(nnz<=", 1 + below(4), "): csr; "),
          concat("rows(nnz>=", 1 + below(4), "): csr; "),
          concat("columns(", below(4), ",", 4 + below(4), "): csr; "),
          concat("band(", below(3) - 2, ",", below(4), "): csr; "),
          concat("blocks(", 1 + below(3), ",", 1 + below(4), ", fill>=0.5): csr; "),
          concat("windows(", 1 + below(4), ", reuse>=1.3): csr; ")};
      const std::string one = selectors[below(6)];
      format += below(3) > 0
                    ? one
                    : concat("columns(", 2 + below(4), "){ ", one, selectors[below(6)], "}; ");
    }
    std::vector<int64_t> sizes = {1 + below(9), 1 + below(12)};
    if (below(4) == 0) sizes.insert(sizes.begin(), 1 + below(3));
    Coordinates entries(sizes.size());
    const int64_t matrices = sizes.size() == 3 ? sizes[0] : 1;
    for (int64_t place = 0; place < matrices * sizes.end()[-2] * sizes.back(); ++place) {
      if (below(5) >= 2) continue;
      if (sizes.size() == 3) entries[0].push_back(place / sizes.back() / sizes[1]);
      entries.end()[-2].push_back(place / sizes.back() % sizes.end()[-2]);
      entries.back().push_back(place % sizes.back());
    }
    format = concat("{ ", format, "rest: csr }");
    const auto composite = CompositeFormat::parse(format, static_cast<int>(sizes.size()));
    ASSERT_EQ(parts_of(format, sizes, entries), parts_in(expected(composite, {sizes, entries})))
        << format;
  }
}

TEST(SelectParts, OfNothing) { EXPECT_EQ(parts_of("hyb(1,0)", {3, 3}, {{}, {}}), (Parts{{}, {}})); }

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

// With chunks of few entries.
TEST(SelectProgramInChunks, GivesManyOut) {
  std::mt19937 random(7);
  Entries entries{{300, 100}, Coordinates(2)};
  for (int64_t row = 0; row < 300; ++row) {
    for (int64_t column = 0; column < 100; ++column) {
      if (random() % 100 >= static_cast<uint32_t>(row % 50)) continue;
      entries.coordinates[0].push_back(row);
      entries.coordinates[1].push_back(column);
    }
  }
  const Tensor tensor(entries, DType::Int32);
  for (const char* text :
       {"hyb(3,4)", "bsr-csr(7,5)", "dia-csr(-9,40)",
        "{ windows(16, reuse>=2): csr; blocks(3,4, fill>=0.5): csr; rest: csr }"}) {
    const CompositeFormat format = CompositeFormat::parse(text, 2);
    Blocks memory;
    const auto selected = [&](int threads) {
      const SelectedEntries found =
          select_by_program(format, tensor.spec, tensor.view, memory,
                            RunOptions{.threads = threads}, {.work_per_chunk = 300});
      return std::pair(vector_of<int64_t>(found.order), found.counts);
    };
    const Selected wanted = expected(format, entries);
    std::vector<int64_t> counts;
    for (size_t part = 0; part + 1 < wanted.begins.size(); ++part)
      counts.push_back(wanted.begins[part + 1] - wanted.begins[part]);
    for (const int threads : {1, 4})
      EXPECT_EQ(selected(threads), std::pair(wanted.order, counts)) << text << ", " << threads;
  }
}

TEST(SelectProgramOf, NamesTheFirstEntryThatNoPartTakes) {
  const CompositeFormat::Choice band{{Selector::Kind::Band, 0, 0}, Format::parse("dia", 2)};
  const CompositeFormat format({0, 1}, {{0, {band}}});
  const Entries entries{{3, 4}, {{0, 1, 1, 2}, {0, 1, 3, 0}}};
  const Tensor tensor(entries, DType::Int32);
  Blocks memory;
  const std::string found =
      message_of([&] { select_by_program(format, tensor.spec, tensor.view, memory, {}); });
  EXPECT_NE(found.find("takes the entry at (1, 3)"), std::string::npos) << found;
}

TEST(SelectProgramOf, TakesNothingFromOutside) {
  const Entries entries{{3, 4}, {{0, 1, 2, 2}, {0, 1, 5, 6}}};
  const Tensor tensor(entries, DType::Int64);
  Blocks memory;
  for (const char* text : {"hyb(3,1)", "{ rows(nnz<=1): csr; rest: csr }"}) {
    const CompositeFormat format = CompositeFormat::parse(text, 2);
    const std::string found =
        message_of([&] { select_by_program(format, tensor.spec, tensor.view, memory, {}); });
    EXPECT_NE(found.find("(2, 5)"), std::string::npos) << found;
  }
}

// Some entries depend on group boundaries and on earlier choices.
TEST(SelectProgramOf, FaultsAreFound) {
  for (const char* fault : {"select-mixes-batch", "select-counts-taken"}) {
    const CompositeFormat format =
        CompositeFormat::parse("{ columns(0,2): csr; rows(nnz<=2): csr; rest: csr }", 3);
    const Entries entries = draw_entries({20, 1, 6}, 1);
    set_mutant(fault);
    const auto faulty = lower::select_parts(format, DType::Int64, {Backend::Gpu});
    set_mutant("");
    EXPECT_NE(interpreted(faulty, entries, DType::Int64), expected(format, entries)) << fault;
  }
}

// Kernels are compiled separately, without the names from this program.
TEST(SelectProgramOf, EachKernelIsTakenByTheAssembler) {
  std::map<std::string, loop::Kernel> kernels;
  for (const auto& program :
       {lower::select_parts(CompositeFormat::parse(kManyRounds, 3), DType::Int64, {Backend::Gpu}),
        lower::gather_entries(3, DType::Int64, DType::Float32, {Backend::Gpu})}) {
    for (const loop::Kernel& kernel : after_passes(program).kernels) {
      const loop::Kernel plain = loop::with_plain_names(kernel);
      kernels.emplace(loop::to_string(plain), plain);
    }
  }
  EXPECT_LT(kernels.size(), 50U);
  for (const auto& [text, kernel] : kernels) {
    codegen::Module module = codegen::emit_gpu({kernel}, codegen::gpu_target("sm_90"));
    codegen::optimise(module);
    EXPECT_EQ(codegen::complaints_of_ptxas(codegen::ptx(module), "sm_90"), "") << text;
  }
}

class GatherProgram : public testing::TestWithParam<DType> {};

TEST_P(GatherProgram, TakesThePartInOrder) {
  const auto program = lower::gather_entries(2, DType::Int32, GetParam(), {Backend::Gpu});
  const loop::HostProgram ready = after_passes(program);
  const auto bytes = static_cast<size_t>(size_of(GetParam()));
  loop::Array values{GetParam(), std::vector<std::byte>(5 * bytes)};
  for (size_t e = 0; e < 5; ++e) values.bytes[e * bytes] = static_cast<std::byte>(e % 2);
  const loop::Arrays arrays{{"order", array_of({4, 2, 0, 3, 1}, DType::Int64)},
                            {"crd0", array_of({0, 1, 1, 2, 3}, DType::Int32)},
                            {"crd1", array_of({5, 6, 7, 8, 9}, DType::Int32)},
                            {"values", values}};
  for (const loop::HostProgram& each : {program, ready}) {
    const loop::Arrays found = loop::interpret(each, arrays, {{"first", 1}, {"count", 3}});
    EXPECT_EQ(loop::to_vector<int32_t>(found.at("part_pos")), (std::vector<int32_t>{0, 3}));
    EXPECT_EQ(loop::to_vector<int32_t>(found.at("part_crd0")), (std::vector<int32_t>{1, 0, 2}));
    EXPECT_EQ(loop::to_vector<int32_t>(found.at("part_crd1")), (std::vector<int32_t>{7, 5, 8}));
    const loop::Array& taken = found.at("part_values");
    for (size_t e = 0; e < 3; ++e)
      EXPECT_EQ(taken.bytes[e * bytes], static_cast<std::byte>(e == 2)) << e;
  }
  codegen::Module module = codegen::emit_gpu(ready.kernels, codegen::gpu_target("sm_90"));
  codegen::optimise(module);
  EXPECT_EQ(codegen::complaints_of_ptxas(codegen::ptx(module), "sm_90"), "");
}

INSTANTIATE_TEST_SUITE_P(Types, GatherProgram,
                         testing::Values(DType::Bool, DType::Int32, DType::Int64, DType::Float16,
                                         DType::BFloat16, DType::Float32, DType::Float64),
                         [](const auto& entry) { return std::string(name_of(entry.param)); });

}  // namespace
}  // namespace tulle::differential
