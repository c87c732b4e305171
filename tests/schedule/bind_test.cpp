// Tests of bind and of the checks of bound loops.
#include <gtest/gtest.h>

#include "schedule/nests.h"
#include "support/check.h"

namespace tulle::schedule {
namespace {

constexpr std::string_view kSpmv =
    "nest { operand A: f32, i32, csr\n operand x: f32; result y: f32\n"
    "forall i { forall j { y[i] += A[i,j] * x[j] } } }";

TEST(Bind, TagsLoops) {
  EXPECT_EQ(body_after(kSpmm, "split(i, 128, ib, it); bind(ib, block); bind(it, thread)"),
            "forall ib block { forall it thread { forall j { forall k { C[i,k] += A[i,j] * B[j,k] "
            "} } } }");
}

TEST(Bind, TagsTheLoopsOfAWorkspace) {
  EXPECT_EQ(body_after(kSpmm,
                       "split(k, 32, k0, k1); split(i, 4, ib, iw); reorder(ib, iw, k0, j, k1); "
                       "precompute(acc, k1); bind(ib, block); bind(iw, warp); bind(k1, lane)"),
            "forall ib block { forall iw warp { forall k0 { where acc { forall k1 lane { C[i,k] = "
            "acc[k1] } } producing { forall j { forall k1 lane { acc[k1] += A[i,j] * B[j,k] } } } "
            "} } }");
}

TEST(Bind, RefusesOthersBeforeBlocks) {
  expect_refused(kSpmm, "split(i, 32, ib, it); bind(it, thread)", "bind(ib, block)");
}

TEST(Bind, RefusesBlocksInside) {
  expect_refused(kSpmm, "split(i, 32, ib, it); bind(ib, block); bind(it, block)",
                 "is inside one that is bound to a block");
}

TEST(Bind, RefusesLanesWithoutWarps) {
  expect_refused(kSpmm, "split(i, 32, ib, it); bind(ib, block); bind(it, lane)",
                 "Lanes belong to a warp");
}

TEST(Bind, RefusesThreadsInWarps) {
  expect_refused(kDense, "split(i, 8, ib, iw); bind(ib, block); bind(iw, warp); bind(j, thread)",
                 "bind(j, lane)");
}

TEST(Bind, RefusesWarpsInThreads) {
  expect_refused(kDense, "split(i, 8, ib, iw); bind(ib, block); bind(iw, thread); bind(j, warp)",
                 "which has no warps");
}

TEST(Bind, RefusesUnknownExtents) {
  expect_refused(kSpmm, "bind(i, block); bind(k, thread)", "split(k, 1024, k0, k1)");
}

TEST(Bind, RefusesMoreThanABlockHas) {
  expect_refused(kSpmm, "split(i, 64, ib, iw); bind(ib, block); bind(iw, warp)", "1 to 32");
}

TEST(Bind, RefusesSums) {
  expect_refused(kSpmm, "reorder(j, i); bind(j, block)", "'j' is summed into 'C'");
  expect_refused(kSpmm, "bind(i, block, sums=atomics)", "not summed over it; leave sums=atomics");
  const std::string largest =
      "nest { operand X: f32\n result y: f32\n forall i { forall j { y[j] max= X[i,j] } } }";
  expect_refused(largest, "bind(i, block)", "let blocks add up with bind(i, block, sums=atomics)");
  EXPECT_EQ(body_after(largest, "bind(i, block, sums=atomics)"),
            "forall i block(atomics) { forall j { y[j] max= X[i,j] } }");
  expect_refused(
      "nest { operand X: f32\n result y: f32\n forall i { forall j { y[j] = X[i,j] } } }",
      "bind(i, block, sums=atomics)", "'y' is another reduction; leave sums=atomics out");
  expect_refused(
      "nest { operand X: f16\n result y: f16\n forall i { forall j { y[j] += X[i,j] } } }",
      "bind(i, block, sums=atomics)", "'y' is of float16; leave sums=atomics out");
  expect_refused(kSpmm, "split(k, 32, k0, k1); bind(i, block); bind(k1, thread, sums=atomics)",
                 "not summed over it; leave sums=atomics");
  expect_refused(
      "nest { operand X: f32\n result y: f32\n forall i { forall j { y[i] += X[i,j] } } }",
      "split(j, 32, j0, j1); bind(i, block); bind(j1, thread)",
      "rfactor(j1, part), or add up with sums=atomics");
  expect_refused(kSpmm, "reorder(j, i); bind(j, block, sums=atomics)", "'A' holds only some");
}

TEST(Bind, RefusesEntriesOfOtherRowsEachTime) {
  expect_refused(
      "nest { operand A: f32, i32, csc\n operand B: f32; result C: f32\n"
      "forall k { forall j { forall i { C[i,k] += A[i,j] * B[j,k] } } } }",
      "split_positions(i, 2, i0, i1); bind(k, block); bind(i1, warp)",
      "visits different entries each time");
}

// The workspace's producer reads the operand, not the assignment that adds the sum.
TEST(Bind, RefusesEntriesOfOtherRowsBehindAWorkspace) {
  expect_refused(
      "nest { operand A: f32, i32, csr\n operand B: f32; operand E: f32; result C: f32; extent d = "
      "8\n"
      "forall k { forall i { forall j { forall d { "
      "C[j,k] += A[i,j] * B[i,k,d] * E[j,d] } } } } }",
      "split_positions(j, 4, j0, j1); rfactor(d, part); bind(k, block); bind(j1, warp)",
      "visits different entries each time");
}

TEST(Bind, RefusesSumsIntoWorkspaces) {
  expect_refused(
      "nest { operand X: f32; result y: f32; extent j = 8\n forall i { forall j { y[i] += X[i,j] } "
      "} }",
      "precompute(acc); bind(i, block); bind(j, thread)", "'j' is summed into 'acc'");
}

TEST(Bind, CombinesPartialSums) {
  EXPECT_EQ(
      body_after("nest { operand X: f32; result y: f32; extent j = 8\n"
                 "forall i { forall j { y[i] += X[i,j] } } }",
                 "precompute(acc); rfactor(j, part); split(i, 4, ib, iw); bind(ib, block); "
                 "bind(iw, warp); bind(j, lane)"),
      "forall ib block { forall iw warp { where acc { y[i] = acc } producing { where part { "
      "forall j lane { acc += part[j] } } producing { forall j lane { part[j] += X[i,j] } } } "
      "} }");
}

TEST(Bind, RefusesOddLanesForSums) {
  expect_refused(
      "nest { operand X: f32; result y: f32; extent j = 6\n"
      "forall i { forall j { y[i] += X[i,j] } } }",
      "rfactor(j, part); split(i, 4, ib, iw); bind(ib, block); bind(iw, warp); "
      "bind(j, lane)",
      "in groups of 1, 2, 4, 8, 16 or 32");
}

constexpr std::string_view kRows =
    "nest { operand X: f32; result y: f32; extent j = 64\n"
    "forall i { forall j { y[i] += X[i,j] } } }";

TEST(Bind, PutsGroupsOfLanesIntoLanes) {
  EXPECT_EQ(body_after(kRows,
                       "split(j, 8, j0, jl); split(i, 16, ib, ir); split(ir, 4, iw, il); "
                       "reorder(ib, iw, il, jl, j0); rfactor(jl, part); bind(ib, block); "
                       "bind(iw, warp); bind(il, lane); bind(jl, lane)"),
            "forall ib block { forall iw warp { forall il lane { where part { forall jl lane { "
            "y[i] += part[jl] } } producing { forall jl lane { forall j0 { part[jl] += X[i,j] } } "
            "} } } }");
}

TEST(Bind, RefusesMoreLanesThanAWarpHas) {
  expect_refused(kRows,
                 "split(j, 8, j0, jl); split(i, 64, ib, ir); split(ir, 8, iw, il); "
                 "reorder(ib, iw, il, jl, j0); rfactor(jl, part); bind(ib, block); bind(iw, warp); "
                 "bind(il, lane); bind(jl, lane)",
                 "8 groups of 8");
}

TEST(Bind, RefusesGroupsOfOddSizes) {
  expect_refused(
      kDense,
      "split(i, 16, ib, iw); split(j, 12, j0, jr); split(jr, 3, jl, jg); bind(ib, block); "
      "bind(iw, warp); bind(jl, lane); bind(jg, lane)",
      "groups have 1, 2, 4, 8 or 16 lanes");
}

TEST(Bind, RefusesSumsOverGroups) {
  expect_refused(
      kRows,
      "split(j, 8, j0, jr); split(jr, 2, jl, jg); split(i, 4, ib, iw); "
      "reorder(ib, iw, jl, jg, j0); precompute(acc); rfactor(jl, part); rfactor(jg, one); "
      "bind(ib, block); bind(iw, warp); bind(jg, lane); bind(jl, lane)",
      "move it inside these");
}

TEST(Bind, RefusesStoredCoordinates) {
  expect_refused(
      "nest { operand A: f32, i32, dcsr\n result C: f32, i32, like A, dcsr\n"
      "forall i { forall j { C[i,j] = A[i,j] * 2 } } }",
      "bind(i, block)", "'A' holds only some coordinates of 'i'");
}

TEST(Bind, RefusesResultsOfTheirOwnPattern) {
  expect_refused(kSpgemm, "bind(i, block)", "use parallel(i)");
}

TEST(Bind, RefusesParallelLoops) {
  expect_refused(kSpmm, "bind(i, block); split(k, 8, k0, k1); parallel(i)", "already has bind");
}

TEST(Bind, RefusesLongWorkspaces) {
  expect_refused(kSpmm, "precompute(acc, k); bind(i, block)", "split 'k' before precompute");
  expect_refused(kSpmm,
                 "split(k, 512, k0, k1); reorder(i, k0, j, k1); precompute(acc, k1); "
                 "bind(i, block)",
                 "at most 256");
}

TEST(Bind, RefusesPrecomputeOfLongRowsLater) {
  expect_refused(kSpmm, "bind(i, block); precompute(acc, k)", "split 'k' before precompute");
}

TEST(Bind, KeepsBoundLoopsInPlace) {
  expect_refused(kDense, "bind(i, block); reorder(j, i)", "put reorder before bind");
}

TEST(Bind, RefusesOtherWords) {
  expect_refused(kSpmv, "bind(i, grid)", "'block', 'warp', 'lane', 'thread' or 'member'");
}

constexpr std::string_view kPartsOfRows =
    "split_positions(j, 4, j0, jl); reorder(jl, j0); rfactor(jl, part); split(i, 4, ib, iw); "
    "bind(ib, block); ";

TEST(Bind, MergesTuplesByLanes) {
  EXPECT_EQ(
      body_after(kSoftmax, concat(kPartsOfRows, "bind(iw, warp); bind(d, lane); bind(jl, lane)")),
      "forall ib block { forall iw warp { where top, total, sum { forall d lane { O[i,d] = sum[d] "
      "/ total } } producing { where part.top, part.total, part.sum { forall jl lane { sequence { "
      "top max= part.top[jl] total scaled= part.total[jl] forall d lane { sum[d] scaled= "
      "part.sum[jl,d] } } } } producing { forall jl lane { forall j0 { sequence { part.top[jl] "
      "max= A[i,j] part.total[jl] scaled= within(A[i,j], 1) forall d lane { part.sum[jl,d] "
      "scaled= within(A[i,j], V[j,d]) } } } } } } } }");
}

TEST(Bind, RefusesTuplesOfSomeLanes) {
  expect_refused(kSoftmax, concat(kPartsOfRows, "bind(iw, warp); bind(jl, lane)"),
                 "merged by all 32 lanes");
}

TEST(Bind, RefusesWorkspacesThatOthersRead) {
  expect_refused(
      "nest { operand A: f32\n operand B: f32\n result C: f32\n extent k = 32\n"
      "forall i { forall j { forall k { C[i,k] += A[i,j] * B[j,k] } } } }",
      "split(j, 8, so, si); reorder(si, so); rfactor(si, parts); split(i, 2, ro, ri); "
      "bind(ro, block); bind(ri, warp); fuse(k, si, f); bind(k, lane)",
      "so that each part is private");
}

TEST(Bind, TakesTuplesOfThreads) {
  EXPECT_NE(body_after(kSoftmax, concat(kPartsOfRows, "bind(jl, thread)")).find("forall jl thread"),
            std::string::npos);
}

TEST(Bind, StoresByLanesWhatWarpsHaveMerged) {
  const std::string body = body_after(
      kSoftmax,
      "split_positions(j, 4, j0, jw); reorder(jw, j0); rfactor(jw, part); bind(i, block); "
      "bind(jw, warp); bind(d, lane)");
  EXPECT_EQ(body.find("forall i block { where top, total, sum { forall d lane { O[i,d] = "), 0U)
      << body;
}

TEST(Bind, RefusesTuplesThatSharedMemoryHasNoRoomFor) {
  std::string wide(kSoftmax);
  wide.replace(wide.find("d = 8"), 5, "d = 16");
  for (size_t at = wide.find("f32"); at != std::string::npos; at = wide.find("f32"))
    wide.replace(at, 3, "f64");
  expect_refused(wide,
                 "split_positions(j, 16, j0, jw); reorder(jw, j0); rfactor(jw, part); "
                 "bind(i, block); bind(jw, warp)",
                 "Copies and tuples take 74496 bytes");
}

TEST(Bind, SaysHowEntriesAreBound) {
  expect_refused(kSoftmax, "split_positions(j, 4, j0, j1); bind(i, block); bind(j0, warp)",
                 "let split_positions count at most 32 entries, and bind its inner loop");
}

// BSR times BSR in blocks of 2 x 2. Gathers the rows of blocks.
constexpr std::string_view kBlocks = R"(nest {
  operand A: f32, i32, bsr(2,2)
  operand B: f32, i32, bsr(2,2)
  result C: f32, i32, bsr(2,2)
  var io = i / 2
  var ir = i % 2
  var jo = j / 2
  var jr = j % 2
  var ko = k / 2
  var kr = k % 2
  forall io { forall jo { forall ko { forall ir { forall jr { forall kr {
    C[i,k] += A[i,j] * B[j,k]
  } } } } } }
})";
constexpr const char* kGathered = "precompute(acc, (ko, ir, kr), tracked); ";

TEST(Members, ShareTheInsidesOfBlocks) {
  const std::string body =
      body_after(kBlocks, concat(kGathered, "parallel(io); bind(kr, member); bind(ir, member)"));
  EXPECT_NE(body.find("forall ir member"), std::string::npos) << body;
  EXPECT_NE(body.find("forall kr member"), std::string::npos) << body;
}

TEST(Members, ShareBlocksThatAreGatheredAfterwards) {
  const std::string body =
      body_after(kBlocks, "bind(kr, member); precompute(acc, (ko, ir, kr), tracked)");
  const size_t stored = body.find("forall kr member");
  ASSERT_NE(stored, std::string::npos) << body;
  EXPECT_NE(body.find("forall kr member", stored + 1), std::string::npos) << body;
}

// The nest with the first occurrence of `before` replaced.
std::string with(std::string_view nest, std::string_view before, std::string_view after) {
  std::string changed(nest);
  changed.replace(changed.find(before), before.size(), after);
  return changed;
}

void expect_no_members(std::string_view nest, const char* steps, const char* why) {
  expect_refused(nest, concat(kGathered, steps), why);
}

TEST(Members, HaveNothingInCommon) {
  expect_no_members(kBlocks, "bind(jr, member)", "'acc' is summed in the loop over 'jr'");
  expect_no_members(kBlocks, "bind(jr, member)", "stores whole, over ir, kr.");
  expect_no_members(kBlocks, "bind(kr, member, sums=atomics)", "leave that out");
  expect_refused(kBlocks, "bind(kr, member)", "precompute(acc, (ko, ir, kr), tracked)");
}

TEST(Members, AreCountedWhenCompiling) {
  expect_no_members(kBlocks, "bind(ko, member)", "'ko' has a number known only when it runs");
  const std::string none = with(kDense, "extent j = 8", "extent j = 0");
  expect_refused(none, "bind(j, member)", "'j' has none; leave bind(j, member) out");
}

TEST(Members, AreAsManyAsAChunkHas) {
  std::string large(kBlocks);
  for (size_t at = large.find("2"); at != std::string::npos; at = large.find("2", at)) {
    const bool is_type = large[at - 1] == '3';
    if (!is_type) large.replace(at, 1, "16");
    at += 2;
  }
  expect_no_members(large, "bind(kr, member); bind(ir, member)",
                    "Loops over ir, kr have 256 iterations together, and a chunk has at most 128");
}

TEST(Members, BuildASparseResult) {
  expect_refused(kDense, "split(j, 8, j0, j1); bind(j1, member)",
                 "is dense; bind the outermost loop to blocks and 'j1' to threads instead");
  expect_refused(
      with(kBlocks, "result C: f32, i32, bsr(2,2)", "result C: f32, i32, like A, bsr(2,2)"),
      "bind(kr, member)", "has the pattern of 'A'; bind the outermost loop to blocks");
}

TEST(Members, ShareBlocksAlone) {
  // Rows of blocks are above the stored levels of the result.
  const std::string rows =
      with(kBlocks, "result C: f32, i32, bsr(2,2)",
           "result C: f32, i32, (i,k) -> (i/2: dense, i%2: dense, k/2: compressed, k%2: dense)");
  expect_refused(with(rows, "forall io { forall jo { forall ko { forall ir {",
                      "forall io { forall ir { forall jo { forall ko {"),
                 "precompute(acc, (ko, kr), tracked); bind(ir, member)", "'C' has none along 'ir'");
}

TEST(Members, GoThroughAllCoordinates) {
  const std::string some = with(
      kBlocks, "operand B: f32, i32, bsr(2,2)",
      "operand B: f32, i32, (j,k) -> (j/2: dense, k/2: compressed, j%2: dense, k%2: compressed)");
  expect_no_members(some, "bind(kr, member)", "and 'B' holds only some of them; bind a loop");
  expect_no_members(some, "bind(kr, member)", "stores whole, over ir.");
}

TEST(Members, StoreWhatTheyHave) {
  expect_refused(R"(nest {
  operand A: f32, i32, bsr(2,2)
  operand B: f32, i32, bsr(2,2)
  result C: f32, i32, bsr(2,2)
  workspace acc: f32, tracked, dense
  var io = i / 2
  var ir = i % 2
  var jo = j / 2
  var jr = j % 2
  var ko = k / 2
  var kr = k % 2
  forall io {
    where acc {
      forall ko { forall ir { forall kr { C[i,k] = acc[ko,ir,kr] } } }
    } producing {
      forall jo { forall ko { forall ir { forall jr { forall kr member {
        acc[ko,ir,kr] += A[i,j] * B[j,k]
      } } } } }
    }
  }
})",
                 "parallel(io)", "'C' is assigned outside of the loops over 'kr'");
}

TEST(Members, AreNoPartsOfBlocks) {
  expect_refused(kDense, "split(j, 8, j0, j1); bind(i, block); bind(j1, member)",
                 "The loops over j1 are bound to the members of chunks and others to blocks");
}

}  // namespace
}  // namespace tulle::schedule
