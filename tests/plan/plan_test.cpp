// The plans of common programs: loop orders, conversions, routes to the result, and the number of
// orders tried.
#include "plan/plan.h"

#include <gtest/gtest.h>

#include "tulle/error.h"

namespace tulle::plan {
namespace {

struct Planned {
  std::string name, format;
  int rank;
  int64_t count = 100000;
};

struct Problem {
  UniqueProgram program;
  Request request;

  Problem(std::string_view text, const std::vector<Planned>& operands, int64_t size = 1000) {
    std::map<std::string, expr::TensorType> types;
    for (const Planned& operand : operands) {
      types[operand.name] = {DType::Float32, DType::Int32,
                             Format::parse(operand.format, operand.rank)};
      const std::vector<int64_t> sizes(static_cast<size_t>(operand.rank), size);
      request.statistics[operand.name] = {sizes, operand.count};
    }
    program = with_unique_indices(expr::resolve(expr::parse_program(text), types));
    request.program = &program;
  }

  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
};

std::string notes_of(std::string_view text, const std::vector<Planned>& operands,
                     const Machine& machine = {}) {
  Problem problem(text, operands);
  problem.request.machine = machine;
  std::string notes;
  for (const std::string& note : make_plan(problem.request).lines) notes += note + "\n";
  return notes;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr std::string_view kProduct = "C[i,k] = A[i,j] * B[j,k]";

TEST(Plan, SpmmWalksRowsAndVectorisesTheDenseIndex) {
  const std::string notes = notes_of(kProduct, {{"A", "csr", 2}, {"B", "dense", 2, 1000000}});
  EXPECT_TRUE(has(notes, "C: loops i j k  # result dense")) << notes;
}

TEST(Plan, SpgemmGathersRows) {
  const std::string notes = notes_of(kProduct, {{"A", "csr", 2}, {"B", "csr", 2}});
  EXPECT_TRUE(has(notes, "C: loops i j k  # result rows through a workspace")) << notes;
  EXPECT_FALSE(has(notes, "converted")) << notes;
}

TEST(Plan, ProductsOfCoordinatesGatherRowsToo) {
  const std::string notes = notes_of(kProduct, {{"A", "coo", 2}, {"B", "coo", 2}});
  EXPECT_TRUE(has(notes, "C: loops i j k  # result rows through a workspace")) << notes;
  EXPECT_FALSE(has(notes, "converted")) << notes;
}

TEST(Plan, GpusGatherAndAppendRowsAndBlocksWithoutSorting) {
  Machine gpu;
  gpu.backend = Backend::Gpu;
  gpu.threads = 135168;
  for (const char* format : {"coo", "bsr(4,4)"}) {
    const std::string notes = notes_of(kProduct, {{"A", format, 2}, {"B", format, 2}}, gpu);
    EXPECT_TRUE(has(notes, "# result rows through a workspace")) << notes;
    EXPECT_FALSE(has(notes, "converted")) << notes;
    EXPECT_FALSE(has(notes, "sorted")) << notes;
  }
  const std::string mixed = notes_of(kProduct, {{"A", "bsr(4,4)", 2}, {"B", "csr", 2}}, gpu);
  EXPECT_FALSE(has(mixed, "sorted")) << mixed;
}

TEST(Plan, ThreadsOfAGpuShareBlocksWhereRowsLeaveThemOver) {
  Machine gpu;
  gpu.backend = Backend::Gpu;
  const std::vector<Planned> blocks = {{"A", "bsr(4,4)", 2}, {"B", "bsr(4,4)", 2}};
  gpu.threads = 135168;
  EXPECT_TRUE(has(notes_of(kProduct, blocks, gpu), "bind(k.inner, member); bind(i.inner, member)"));
  gpu.threads = 2000;  // for 250 rows of blocks
  const std::string some = notes_of(kProduct, blocks, gpu);
  EXPECT_TRUE(has(some, "bind(k.inner, member)")) << some;
  EXPECT_FALSE(has(some, "bind(i.inner, member)")) << some;
  gpu.threads = 500;
  EXPECT_FALSE(has(notes_of(kProduct, blocks, gpu), "member"));
  EXPECT_FALSE(has(notes_of(kProduct, blocks), "member"));
}

TEST(Plan, RowsWithoutEntriesAreReadByACopyToo) {
  for (const int64_t entries : {0, 1, 10, 100}) {
    const std::string notes =
        notes_of(kProduct, {{"A", "csr", 2, entries}, {"B", "dense", 2, 1000000}});
    EXPECT_TRUE(has(notes, "C: loops i j k")) << notes;
    EXPECT_FALSE(has(notes, "converted")) << entries << ":\n" << notes;
  }
}

TEST(Plan, MixedOrdersConvertOneOperand) {
  const std::string notes =
      notes_of("C[i,j] = A[i,j] + B[i,j]", {{"A", "csr", 2}, {"B", "csc", 2}});
  EXPECT_TRUE(has(notes, "B is converted to csr (general path)")) << notes;
  EXPECT_FALSE(has(notes, "A is converted")) << notes;
}

TEST(Plan, LoopsFollowBlocksWhereThatPaysForLargerKernels) {
  const char* sum = "C[i,j] = A[i,j] + B[i,j]";
  const std::string few = notes_of(sum, {{"A", "bsr(4,4)", 2, 2000}, {"B", "csr", 2, 1000}});
  EXPECT_TRUE(has(few, "A is converted to csr")) << few;
  const std::string many = notes_of(sum, {{"A", "bsr(4,4)", 2, 300000}, {"B", "csr", 2, 20000}});
  EXPECT_TRUE(has(many, "B is converted")) << many;
  EXPECT_FALSE(has(many, "A is converted")) << many;
  EXPECT_TRUE(has(many, "C: loops i.outer j.outer i.inner j.inner")) << many;
}

TEST(Plan, AnOperandUsedInTwoOrdersIsConvertedOnceForOneOfThem) {
  const Problem problem("C[i,j] = A[i,j] + A[j,i]", {{"A", "csr", 2}});
  int conversions = 0;
  for (const auto& [name, type] : make_plan(problem.request).temporaries) {
    conversions += name.ends_with(".as0") || name.ends_with(".as1");
  }
  EXPECT_EQ(conversions, 1);
}

TEST(Plan, MasksLendTheirPattern) {
  const std::string notes =
      notes_of("S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
               {{"A", "csr", 2}, {"Q", "dense", 2, 1000000}, {"K", "dense", 2, 1000000}});
  EXPECT_TRUE(has(notes, "S: loops i j d  # result shared pattern")) << notes;
}

TEST(Plan, SumsOverRowsAreTransposedOrSorted) {
  const std::string notes =
      notes_of("C[i,k] = A[j,i] * B[j,k]", {{"A", "csr", 2}, {"B", "csr", 2}});
  EXPECT_TRUE(has(notes, "converted") || has(notes, "sorted afterwards")) << notes;
}

int orders_tried(const Problem& problem) { return make_plan(problem.request).orders_tried; }

TEST(Plan, OrdersThatCannotBeBestAreNotFollowed) {
  // Four loops have 65 partial orders. Six loops, three of which must follow others, have 271.
  const Problem four("M[i,r] = T[i,j,k] * B[j,r] * C[k,r]",
                     {{"T", "csf", 3}, {"B", "dense", 2}, {"C", "dense", 2}});
  EXPECT_LE(orders_tried(four), 60);
  const Problem blocks("C[i,k] = A[i,j] * B[j,k]", {{"A", "bsr(4,4)", 2}, {"B", "bsr(4,4)", 2}});
  EXPECT_LE(orders_tried(blocks), 250);
}

TEST(Plan, SearchesEndHoweverManyLoopsThereAre) {
  const Problem eight("D[a,h] = A[a,b,c] * B[c,d,e] * C[e,f,g] * E[g,h]",
                      {{"A", "csf", 3}, {"B", "csf", 3}, {"C", "csf", 3}, {"E", "csr", 2}});
  EXPECT_LE(orders_tried(eight), 200);
  const Problem twelve("s = A[a,b,c,d,e,f,g,h,p,q,r,t]", {{"A", "csf", 12}});
  EXPECT_LE(orders_tried(twelve), 1000);
}

TEST(Plan, TensorsOfHighRankAreWalkedOverAsTheyAreStored) {
  const std::string_view statement = "s = A[a,b,c,d,e,f,g,h,p,q,r,t]";
  const Planned forwards{"A", "csf", 12};
  EXPECT_TRUE(has(notes_of(statement, {forwards}), "s: loops a b c d e f g h p q r t  #"));
  const Planned backwards{
      "A",
      "(a,b,c,d,e,f,g,h,p,q,r,t) -> (t: compressed, r: compressed, q: compressed, p: compressed, "
      "h: compressed, g: compressed, f: compressed, e: compressed, d: compressed, c: compressed, "
      "b: compressed, a: compressed)",
      12};
  EXPECT_TRUE(has(notes_of(statement, {backwards}), "s: loops t r q p h g f e d c b a  #"));
}

TEST(Plan, ThreadsDoNotHideBetterOrders) {
  Problem problem("M[i,r] = T[i,j,k] * B[j,r] * C[k,r]",
                  {{"T", "csf", 3}, {"B", "dense", 2}, {"C", "dense", 2}});
  for (const int threads : {1, 2, 8, 64, 256}) {
    problem.request.machine.threads = threads;
    const std::string note = make_plan(problem.request).lines.front();
    EXPECT_TRUE(has(note, "M: loops i j k r  # result dense")) << threads << ": " << note;
  }
}

TEST(Plan, LoopsOfOneIterationAreNotParallel) {
  Problem problem(kProduct, {{"A", "csr", 2}, {"B", "dense", 2, 1000}});
  problem.request.statistics["B"].sizes = {1000, 1};
  problem.request.machine.threads = 2;
  const std::string note = make_plan(problem.request).lines.front();
  EXPECT_TRUE(has(note, "C: loops i ")) << note;
}

// If entries gather rows that their neighbours fetched, a result evicts nothing from the last-level
// cache.
TEST(Plan, ResultsAreStoredPastTheCachesWhereTheyCrowdGathersOut) {
  const auto streams = [](double distinct_share, int64_t rows) {
    Problem problem(kProduct, {{"A", "csr", 2}, {"B", "dense", 2, rows * 64}}, rows);
    problem.request.statistics["A"].distinct_share = distinct_share;
    problem.request.statistics["B"].sizes = {rows, 64};
    problem.request.known_extents = {{"k", 64}};
    const Plan plan = make_plan(problem.request);
    return has(schedule::to_string(std::get<schedule::ScheduledNest>(plan.steps[0]).schedule),
               "nontemporal(C)");
  };
  EXPECT_FALSE(streams(0.9, 10000));
  EXPECT_TRUE(streams(0.9, 100000));
  EXPECT_FALSE(streams(0.05, 100000));
  EXPECT_TRUE(streams(0.05, 1000000));
}

TEST(Plan, WalksRowsOfDenseOperandsBesideRowsOfWeights) {
  Problem problem("Y[b,o] = X[b,i] * W[o,i]", {{"X", "dense", 2, 21675904}, {"W", "csr", 2, 1638}},
                  128);
  problem.request.statistics["X"].sizes = {169343, 128};
  for (const int threads : {1, 2, 64}) {
    problem.request.machine.threads = threads;
    const std::string note = make_plan(problem.request).lines.front();
    EXPECT_TRUE(has(note, "Y: loops b o i  # result dense")) << threads << ": " << note;
  }
}

// The gradient of a maximum reads an operand twice.
TEST(Plan, PrefetchesAnOperandOnce) {
  Problem problem("C[i,k] = sum(j, A[i,j] * max(X[j,k], X[j,k] * X[j,k]))",
                  {{"A", "csr", 2, 2000000}, {"X", "dense", 2, 12800000}}, 100000);
  problem.request.statistics["X"].sizes = {100000, 128};
  problem.request.known_extents = {{"k", 128}};
  const Plan plan = make_plan(problem.request);
  const std::string text =
      schedule::to_string(std::get<schedule::ScheduledNest>(plan.steps.back()).schedule);
  const size_t first = text.find("prefetch(X");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("prefetch(X", first + 1), std::string::npos) << text;
}

// Attention with this number of columns for each of the heads; none: without an index of heads.
std::string attention_notes(bool has_heads, const Machine& machine = {}) {
  return has_heads ? notes_of("O[i,h,d] = softmax(j in A[i,j], S[i,j,h]) * V[j,h,d]",
                              {{"A", "csr", 2}, {"S", "dense", 3}, {"V", "dense", 3}}, machine)
                   : notes_of("O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]",
                              {{"A", "csr", 2}, {"S", "dense", 2}, {"V", "dense", 2}}, machine);
}

TEST(Plan, ASoftmaxIsStoredIfItsExponentsVectorise) {
  EXPECT_TRUE(has(attention_notes(true), "O.part2: loops i j h")) << attention_notes(true);
  EXPECT_FALSE(has(attention_notes(false), "O.part")) << attention_notes(false);
  Machine gpu;
  gpu.backend = Backend::Gpu;
  EXPECT_FALSE(has(attention_notes(true, gpu), "O.part2"));
}

TEST(Plan, AScheduleOfTheCallerKeepsTheSoftmaxInOnePass) {
  Problem problem("O[i,h,d] = softmax(j in A[i,j], S[i,j,h]) * V[j,h,d]",
                  {{"A", "csr", 2}, {"S", "dense", 3}, {"V", "dense", 3}});
  problem.request.schedules = {schedule::parse_schedule("parallel(i)")};
  EXPECT_TRUE(make_plan(problem.request).temporaries.empty());
}

TEST(Plan, IntermediatesHaveTheEntriesOfTheirOperands) {
  // The second statement costs what it costs for an operand with as many entries.
  const std::string notes = notes_of("E[i,j] = 2 * A[i,j]; C[i,k] = E[i,j] * B[j,k]",
                                     {{"A", "csr", 2}, {"B", "dense", 2}});
  const std::string alone = notes_of(kProduct, {{"A", "csr", 2}, {"B", "dense", 2}});
  const std::string cost = alone.substr(alone.find("estimated cost"));
  EXPECT_TRUE(has(notes, cost.substr(0, cost.find('\n')))) << notes << alone;
}

}  // namespace
}  // namespace tulle::plan
