// Scan kernels return the same results as the interpreter's scan.
#include "passes/expand_scans.h"

#include "fixture.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "support/mutant.h"
#include "tulle/error.h"

namespace tulle::passes {
namespace {

constexpr const char* kHost = R"(host sizes(P: i32*, Q: i64*; n: i64) -> (S, T) {
  S = alloc i32[n + 1]
  T = alloc i64[n + 1]
  launch copy
  scan S[0, n)
  scan T[0, n)
  let total: i32 = read S[n]
}

kernel copy(P: i32*, Q: i64*, S: mut i32*, T: mut i64*; n: i64) {
  for i in [0, n) {
    S[i] = P[i]
    T[i] = Q[i]
  }
})";

loop::Arrays run(const loop::HostProgram& program, int64_t n) {
  std::vector<int32_t> counts;
  std::vector<int64_t> wide;
  for (int64_t i = 0; i < n; ++i) {
    counts.push_back(static_cast<int32_t>(i * 7 % 11));
    wide.push_back(i % 5 == 0 ? int64_t{1} << 33 : i);
  }
  loop::Arrays arrays;
  arrays.emplace("P", loop::to_array<int32_t>(DType::Int32, counts));
  arrays.emplace("Q", loop::to_array<int64_t>(DType::Int64, wide));
  return loop::interpret(program, arrays, {{"n", n}});
}

TEST(ExpandScans, GivesTheSameSums) {
  const loop::HostProgram program = loop::parse_host_program(kHost);
  const loop::HostProgram expanded = expand_scans(program);
  loop::verify(expanded);
  EXPECT_EQ(loop::to_string(expanded).find("scan S"), std::string::npos);
  for (const int64_t n : {0, 1, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 5000}) {
    const loop::Arrays expected = run(program, n), found = run(expanded, n);
    EXPECT_EQ(loop::to_vector<int32_t>(found.at("S")), loop::to_vector<int32_t>(expected.at("S")))
        << n;
    EXPECT_EQ(loop::to_vector<int64_t>(found.at("T")), loop::to_vector<int64_t>(expected.at("T")))
        << n;
  }
}

TEST(ExpandScans, SurvivesTheOtherPasses) {
  const loop::HostProgram program = loop::parse_host_program(kHost);
  const loop::HostProgram expanded =
      run_passes(program, {.backend = Backend::Gpu, .masks = false, .verify = true}).program;
  const loop::Arrays expected = run(program, 3000), found = run(expanded, 3000);
  EXPECT_EQ(loop::to_vector<int32_t>(found.at("S")), loop::to_vector<int32_t>(expected.at("S")));
}

TEST(ExpandScans, MarksATotalThatDoesNotFit) {
  const loop::HostProgram program = expand_scans(
      loop::parse_host_program("host sizes(S: mut i32*; n: i64) -> (S) { scan S[0, n) }"));
  const std::vector<int32_t> counts{2000000000, 2000000000, 0};
  const loop::Arrays found =
      loop::interpret(program, {{"S", loop::to_array<int32_t>(DType::Int32, counts)}}, {{"n", 2}});
  EXPECT_EQ(loop::to_vector<int32_t>(found.at("S"))[2], -1);
}

TEST(ExpandScans, AMissingTileIsNoticed) {
  const loop::HostProgram program = loop::parse_host_program(kHost);
  set_mutant("scan-drops-last-tile");
  const loop::HostProgram faulty = expand_scans(program);
  set_mutant("");
  EXPECT_THROW(run(faulty, 2049), InternalError);  // it reads unwritten memory
}

}  // namespace
}  // namespace tulle::passes
