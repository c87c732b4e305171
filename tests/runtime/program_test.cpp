// Whole host programs: every step, parallel launches, failures, and the cost of a run.
#include <bit>
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/fixture.h"
#include "runtime/heap.h"
#include "tulle/error.h"

namespace tulle::runtime {
namespace {

// Selects the entries of a CSR matrix above a threshold: count, scan, fill.
constexpr const char* kFilter = R"(
host filter(A_pos: i32*, A_crd: i32*, A: f32*; rows: i64, threshold: f32) -> (C_pos, C_crd, C) {
  C_pos = alloc zeroed i32[rows + 1]
  launch count
  scan C_pos[0, rows)
  let nnz: i32 = read C_pos[rows]
  let size: i64 = i64(nnz)
  C_crd = alloc i32[size]
  C = alloc f32[size]
  launch fill
}
kernel count(A_pos: i32*, A: f32*, C_pos: mut i32*; rows: i64, threshold: f32) {
  parallel for i in [0, rows) {
    for p in [i64(A_pos[i]), i64(A_pos[i + 1])) {
      if (A[p] > threshold) { C_pos[i] = C_pos[i] + 1:i32 }
    }
  }
}
kernel fill(A_pos: i32*, A_crd: i32*, A: f32*, C_pos: i32*, C_crd: mut i32*, C: mut f32*; rows: i64, threshold: f32) {
  parallel for i in [0, rows) {
    var q: i64 = i64(C_pos[i])
    for p in [i64(A_pos[i]), i64(A_pos[i + 1])) {
      if (A[p] > threshold) {
        C_crd[q] = A_crd[p]
        C[q] = A[p]
        q = q + 1
      }
    }
  }
}
)";

TEST(Program, CountScanFill) {
  std::vector<int32_t> pos{0, 2, 2, 5}, crd{0, 3, 1, 2, 3};
  std::vector<float> values{1, -1, 2, -2, 3};
  TestProgram program(kFilter);
  ThreadPool pool(4);
  const int64_t threshold = std::bit_cast<int32_t>(0.5F);
  const auto results = program.run({pos.data(), crd.data(), values.data()}, {3, threshold}, pool);
  EXPECT_EQ(as_vector<int32_t>(results[0]), (std::vector<int32_t>{0, 1, 1, 3}));
  EXPECT_EQ(as_vector<int32_t>(results[1]), (std::vector<int32_t>{0, 1, 3}));
  EXPECT_EQ(as_vector<float>(results[2]), (std::vector<float>{1, 2, 3}));
}

TEST(Program, NoRows) {
  std::vector<int32_t> pos{0};
  TestProgram program(kFilter);
  const auto results = program.run({pos.data(), nullptr, nullptr}, {0, 0});
  EXPECT_EQ(as_vector<int32_t>(results[0]), std::vector<int32_t>{0});
  EXPECT_EQ(results[1].elements, 0);
}

TEST(Program, SortsAndFreesTemporaries) {
  TestProgram program(R"(
host ordered(rows: i32*, columns: i64*; n: i64) -> (sorted, rows) {
  sorted = alloc i64[n]
  order = alloc i64[n]
  sort order[0, n) by rows, columns
  launch gather
  free order
}
kernel gather(order: i64*, columns: i64*, sorted: mut i64*; n: i64) {
  for i in [0, n) { sorted[i] = columns[order[i]] }
}
)");
  std::vector<int32_t> rows{1, 0, 1, 0};
  std::vector<int64_t> columns{5, 9, -4, 2};
  const auto results = program.run({rows.data(), columns.data()}, {4});
  EXPECT_EQ(as_vector<int64_t>(results[0]), (std::vector<int64_t>{2, 9, -4, 5}));
  EXPECT_EQ(results[1].data, rows.data());
  EXPECT_EQ(results[1].elements, -1);
}

constexpr const char* kWork = R"(
host work(; n: i64, size: i64) -> (C) {
  C = alloc zeroed i64[n]
  scratch = alloc zeroed i64[1000]
  launch fill
}
kernel fill(C: mut i64*, scratch: i64*; n: i64, size: i64) {
  let last: i64 = n - 1
  parallel for i in [0, last + 1) by 3 {
    w = alloc zeroed workspace i64[size]
    for k in [0, 100) { w[k] = w[k] + i * k }
    var sum: i64 = scratch[0]
    for k in [0, 100) { sum = sum + w[k] }
    C[i] = sum
  }
}
)";

TEST(Program, ParallelLoopWithStepsAndWorkspaces) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const int64_t n : {0, 1, 3, 4, 100, 1001}) {
      TestProgram program(kWork);
      ThreadPool pool(threads);
      const auto sums = as_vector<int64_t>(program.run({}, {n, 100}, pool)[0]);
      for (int64_t i = 0; i < n; ++i)
        EXPECT_EQ(sums[i], i % 3 == 0 ? 4950 * i : 0) << i << " of " << n;
    }
  }
}

TEST(Program, OutOfMemoryRaisesAndFreesEverything) {
  heap_trim();
  TestProgram program(kWork);
  ThreadPool pool(2);
  const auto expect_error = [&](std::vector<int64_t> scalars, const char* message) {
    try {
      program.run({}, std::move(scalars), pool);
      FAIL() << "expected: " << message;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  expect_error({100, int64_t{1} << 50}, "a workspace of the kernel fill");
  EXPECT_GE(heap_kept_bytes(), 8000);  // of `scratch`
  program.memory.fail = true;
  expect_error({100, 100}, "out of memory: 800 bytes for C");
  program.memory.fail = false;
  EXPECT_EQ(as_vector<int64_t>(program.run({}, {4, 100}, pool)[0])[3], 3 * 4950);
}

TEST(Program, ReportsAccessesOutOfBounds) {
  TestProgram program(R"(
host check(; n: i64) -> (C) {
  C = alloc i64[10]
  launch fill
}
kernel fill(C: mut i64*; n: i64) {
  parallel for i in [0, n) {
    w = alloc workspace i64[10]
    if (i >= 10) { report_out_of_bounds(C, i, 10) }
    C[i] = i
  }
}
)");
  ThreadPool pool(2);
  EXPECT_EQ(program.run({}, {10}, pool)[0].elements, 10);
  try {
    program.run({}, {11}, pool);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("C[10], which has 10 elements"), std::string::npos)
        << error.what();
  }
}

TEST(Program, RefusesStepsBeyondABuffersEnd) {
  for (const char* step : {"scan t[0, n)", "let x: i64 = read t[n]", "let x: i64 = read t[-1]",
                           "sort t[0, n + 1) by A", "sort A[0, n + 1) by t"}) {
    TestProgram program(std::string("host p(A: mut i64*; n: i64) -> () { t = alloc i64[n] ") +
                        step + " }");
    std::vector<int64_t> a(100);
    EXPECT_THROW(program.run({a.data()}, {8}), InternalError) << step;
  }
}

TEST(Program, RefusesWhatIsNotDefined) {
  const auto prepare = [](const char* steps) {
    return TestProgram(std::string("host p(A: i64*; n: i64) -> () {") + steps + "}");
  };
  EXPECT_THROW(prepare("free A"), InternalError);
  EXPECT_NO_THROW(prepare("t = alloc i64[n]"));
}

TEST(Program, RefusesMemoryThatIsNotAligned) {
  const TestProgram program(R"(
host twice(A: f32*; n: i64) -> (C) {
  C = alloc f32[n]
  launch compute
}
kernel compute(A: f32*, C: mut f32*; n: i64) {
  for i in [0, n) { C[i] = A[i] * 2.0f }
}
)");
  class Fixed final : public RunMemory {
   public:
    void* allocate(size_t, const loop::BufferNode&, int64_t, bool) override { return place + 1; }
    alignas(loop::kWrittenAlignment) float place[4];
  } memory;
  float input[1] = {21};
  void* const buffers[] = {input};
  const int64_t scalars[] = {1};
  RunResult results[1];
  NoParallelism parallelism;
  EXPECT_THROW(program.compiled().run(buffers, scalars, memory, parallelism, results), UserError);
}

TEST(Program, SmallRunsTakeNoThreadsAndAllocateTheirResultsAlone) {
  TestProgram program(R"(
host scale(A: f32*; n: i64) -> (C) {
  C = alloc f32[n]
  t = alloc f32[n * 2 + 1]
  launch twice
}
kernel twice(A: f32*, C: mut f32*, t: mut f32*; n: i64) {
  for i in [0, n) { C[i] = A[i] * 2.0f }
}
)");
  class Counting final : public RunMemory {
   public:
    void* allocate(size_t, const loop::BufferNode&, int64_t, bool) override {
      ++allocations;
      return place;
    }
    alignas(loop::kWrittenAlignment) float place[4];
    int allocations = 0;
  } memory;
  class Watched final : public Parallelism {
   public:
    int threads() const override { return 8; }
    void run(int count, void (*task)(void* data, int index), void* data) override {
      if (count > 1) ++shared;
      for (int index = 0; index < count; ++index) task(data, index);
    }
    int shared = 0;
  } parallelism;
  float input[1] = {21};
  void* const buffers[] = {input};
  const int64_t scalars[] = {1};
  RunResult results[1];
  for (int run = 1; run <= 3; ++run) {
    program.compiled().run(buffers, scalars, memory, parallelism, results);
    EXPECT_EQ(memory.place[0], 42);
    EXPECT_EQ(memory.allocations, run);
  }
  EXPECT_EQ(parallelism.shared, 0);
}

}  // namespace
}  // namespace tulle::runtime
