// Sort kernels return the same results as the interpreter's sort.
#include "passes/expand_sorts.h"

#include "fixture.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "support/mutant.h"

namespace tulle::passes {
namespace {

constexpr const char* kHost = R"(host sorted(row: i32*, column: i64*; n: i64) -> (order) {
  order = alloc i64[n]
  sort order[0, n) by row, column
})";

std::vector<int64_t> run(const loop::HostProgram& program, int64_t n, int64_t rows,
                         int64_t columns) {
  std::vector<int32_t> row;
  std::vector<int64_t> column;
  for (int64_t i = 0; i < n; ++i) {
    row.push_back(static_cast<int32_t>(i * 7919 % rows - rows / 3));  // some are negative
    column.push_back(i * i * 31 % columns);
  }
  loop::Arrays arrays;
  arrays.emplace("row", loop::to_array<int32_t>(DType::Int32, row));
  arrays.emplace("column", loop::to_array<int64_t>(DType::Int64, column));
  return loop::to_vector<int64_t>(loop::interpret(program, arrays, {{"n", n}}).at("order"));
}

TEST(ExpandSorts, GivesTheSameOrder) {
  const loop::HostProgram program = loop::parse_host_program(kHost);
  const loop::HostProgram expanded = expand_sorts(program);
  loop::verify(expanded);
  EXPECT_EQ(loop::to_string(expanded).find("sort order"), std::string::npos);
  for (const int64_t n : {0, 1, 2, 33, 257, 2048, 2300}) {
    for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {3, 5}, {300, 70000}, {100000, int64_t{1} << 40}}) {
      EXPECT_EQ(run(expanded, n, rows, columns), run(program, n, rows, columns))
          << n << " entries, " << rows << " x " << columns;
    }
  }
}

TEST(ExpandSorts, SurvivesTheOtherPasses) {
  const loop::HostProgram program = loop::parse_host_program(kHost);
  const loop::HostProgram expanded =
      run_passes(program, {.backend = Backend::Gpu, .masks = false, .verify = true}).program;
  EXPECT_EQ(run(expanded, 3000, 50, 60), run(program, 3000, 50, 60));
}

TEST(ExpandSorts, AnUnstableSortIsNoticed) {
  const loop::HostProgram program = loop::parse_host_program(kHost);
  set_mutant("sort-unstable");
  const loop::HostProgram faulty = expand_sorts(program);
  set_mutant("");
  EXPECT_NE(run(faulty, 100, 3, 5), run(program, 100, 3, 5));
}

TEST(ExpandSorts, CallsInKernels) {
  const std::string text = R"(
kernel k(A: i32*, P: mut i32*; n: i64) {
  block for b in [0, 2) {
    thread for t in [0, 3) {
      w = alloc local i32[20]
      for k in [0, 20) { w[k] = A[k + t] }
      sort(w, 0, n)
      for k in [0, 20) { P[(b * 3 + t) * 20 + k] = w[k] }
      sort(P, (b * 3 + t) * 20 + 3, (b * 3 + t) * 20 + 17)
    }
  }
})";
  std::vector<int32_t> values;
  for (int i = 0; i < 30; ++i) values.push_back(i * 13 % 17 - 5);
  for (int64_t n = 0; n <= 20; ++n) {
    expect_same_results({"expand_sort_calls"}, text,
                        {{"A", loop::to_array<int32_t>(DType::Int32, values)},
                         {"P", loop::to_array<int32_t>(DType::Int32, std::vector<int32_t>(120))}},
                        {{"n", n}});
  }
}

}  // namespace
}  // namespace tulle::passes
