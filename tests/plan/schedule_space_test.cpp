// Tests of the schedules that a search can try, of their estimates and of the keys of tuned plans.
#include "plan/tune/schedule_space.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "plan/tune/plan_key.h"
#include "tulle/error.h"

namespace tulle::plan {
namespace {

using Formats = std::map<std::string, std::string>;

struct Problem {
  UniqueProgram program;
  Request request;

  Problem(std::string_view text, const Formats& formats, int64_t size = 100000,
          int64_t count = 2000000) {
    std::map<std::string, expr::TensorType> types;
    for (const auto& [name, format] : formats) {
      types[name] = {DType::Float32, DType::Int32, Format::parse(format, 2)};
      const bool is_dense = types[name].format.is_dense();
      request.statistics[name] = {{size, is_dense ? 128 : size}, is_dense ? 128 * size : count};
    }
    program = with_unique_indices(expr::resolve(expr::parse_program(text), types));
    request.program = &program;
    request.machine.threads = 2;
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  Plan plan(Spaces spaces = Spaces::Written) {
    request.spaces = spaces;
    return make_plan(request);
  }
};

constexpr std::string_view kProduct = "C[i,k] = A[i,j] * B[j,k]";
const Formats kCsrTimesDense = {{"A", "csr"}, {"B", "dense"}};

std::vector<ScheduledCandidate> space_of(std::string_view text, const Formats& formats) {
  Problem problem(text, formats);
  problem.request.known_extents["k"] = 128;
  return problem.plan().spaces.at(0).candidates;
}

bool any_has(const std::vector<ScheduledCandidate>& found, std::string_view part) {
  return std::any_of(found.begin(), found.end(), [&](const ScheduledCandidate& candidate) {
    return to_string(candidate.schedule).find(part) != std::string::npos;
  });
}

TEST(ScheduleSpace, BeginsWithTheDefaultAndGoesOnByCost) {
  Problem problem(kProduct, kCsrTimesDense);
  problem.request.known_extents["k"] = 128;
  const Plan plan = problem.plan();
  const auto& found = plan.spaces.at(0).candidates;
  ASSERT_GT(found.size(), 100u);
  EXPECT_EQ(plan.spaces[0].tensor, "C");
  EXPECT_EQ(found[0].schedule, std::get<schedule::ScheduledNest>(plan.steps.at(0)).schedule);
  for (size_t at = 2; at < found.size(); ++at) EXPECT_LE(found[at - 1].seconds, found[at].seconds);
  for (const auto& candidate : found)
    EXPECT_GT(candidate.seconds, 0) << to_string(candidate.schedule);
}

TEST(ScheduleSpace, VariesEveryDecision) {
  const auto found = space_of(kProduct, kCsrTimesDense);
  for (const std::string_view part :
       {"split(k, 64", "reorder(k.panel, i, j, k.in)", "reorder(i, k, j)", "unroll(j, 4)",
        "vectorize(k, 8)", "prefetch(B, 32)", "nontemporal(C)", "parallel(i, by=rows)",
        "parallel(i, by=merge)"}) {
    EXPECT_TRUE(any_has(found, part)) << part;
  }
}

TEST(ScheduleSpace, HoldsOnlyWhatTheRewritesAllow) {
  for (const auto& [text, formats] : std::vector<std::pair<std::string_view, Formats>>{
           {kProduct, kCsrTimesDense},
           {kProduct, {{"A", "csr"}, {"B", "csr"}}},
           {kProduct, {{"A", "bsr(4,4)"}, {"B", "dense"}}},
           {"C[i,k] = A[i,j] * B[j,k]", {{"A", "dia"}, {"B", "dense"}}},
           {"y[i] = A[i,j]", {{"A", "coo"}}},
           {"S[i,j] = A[i,j] + B[i,j]", {{"A", "csr"}, {"B", "csr"}}}}) {
    Problem problem(text, formats);
    const Plan plan = problem.plan();
    const auto& planned = std::get<schedule::ScheduledNest>(plan.steps.back());
    for (const auto& candidate : plan.spaces.at(0).candidates) {
      EXPECT_TRUE(is_legal(candidate.schedule, planned.nest)) << to_string(candidate.schedule);
    }
  }
}

TEST(ScheduleSpace, ExpectsVectorsAndThreadsToPay) {
  const auto found = space_of(kProduct, kCsrTimesDense);
  auto seconds = [&](std::string_view schedule) {
    const auto at = std::find_if(found.begin(), found.end(),
                                 [&](const auto& c) { return to_string(c.schedule) == schedule; });
    EXPECT_NE(at, found.end()) << schedule;
    return at == found.end() ? 0 : at->seconds;
  };
  const double serial = seconds("reorder(i, k, j); precompute(C.acc, ())");
  EXPECT_LT(seconds("reorder(i, k, j); precompute(C.acc, ()); parallel(i, by=nnz)"), 0.7 * serial);
  EXPECT_LT(found[0].seconds, 0.3 * serial);
}

TEST(ScheduleSpace, VariesTheNumbersOfSchedulesForAGpu) {
  Problem problem(kProduct, kCsrTimesDense);
  problem.request.known_extents["k"] = 128;
  problem.request.machine.backend = Backend::Gpu;
  problem.request.machine.multiprocessors = 132;
  problem.request.machine.vector_bytes = 16;
  const Plan plan = problem.plan();
  const auto& found = plan.spaces.at(0).candidates;
  EXPECT_EQ(found[0].schedule, std::get<schedule::ScheduledNest>(plan.steps.at(0)).schedule);
  EXPECT_GT(found.size(), 20u);
  for (const auto& candidate : found) {
    EXPECT_NE(to_string(candidate.schedule).find("bind("), std::string::npos)
        << to_string(candidate.schedule);
    EXPECT_GT(candidate.seconds, 0) << to_string(candidate.schedule);
  }
}

TEST(ScheduleSpace, EstimatesAScheduleThatIsGiven) {
  Problem problem(kProduct, kCsrTimesDense);
  problem.request.schedules = {schedule::parse_schedule("parallel(i)")};
  const auto found = problem.plan(Spaces::Planned).spaces.at(0).candidates;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(to_string(found[0].schedule), "parallel(i)");
  EXPECT_TRUE(problem.plan().spaces.at(0).candidates.empty());
}

TEST(PlanKey, IsTheSameUnderOtherNames) {
  Problem one(kProduct, kCsrTimesDense);
  Problem other("out[row,c] = t0[row,mid] * t1[mid,c]", {{"t0", "csr"}, {"t1", "dense"}});
  const NumberedNames names(one.program), other_names(other.program);
  EXPECT_EQ(names.statements(), "T0[x0,x1] = sum(x2, T1[x0,x2] * T2[x2,x1])\n");
  const PlanKey a = plan_key(one.request, names), b = plan_key(other.request, other_names);
  EXPECT_EQ(a.statements, b.statements);
  EXPECT_EQ(a.tensors, b.tensors);
  EXPECT_EQ(a.operands, b.operands);
}

TEST(PlanKey, TellsFormatsAndMagnitudesApart) {
  Problem csr(kProduct, kCsrTimesDense), csc(kProduct, {{"A", "csc"}, {"B", "dense"}});
  Problem larger(kProduct, kCsrTimesDense, 100000, 40000000);
  auto key = [](const Problem& p) { return plan_key(p.request, NumberedNames(p.program)); };
  EXPECT_NE(key(csr).tensors, key(csc).tensors);
  EXPECT_NE(key(csr).operands, key(larger).operands);
  larger.request.statistics["A"].count = 2000001;
  EXPECT_EQ(key(csr).operands, key(larger).operands);
  larger.request.statistics["A"].longest_row = 64;
  EXPECT_NE(key(csr).operands, key(larger).operands);
}

TEST(PlanKey, CarriesSchedulesOverToOtherNames) {
  Problem one(kProduct, kCsrTimesDense);
  // The index has the name of a loop that the schedule makes.
  Problem other("out[row,k0] = t0[row,mid] * t1[mid,k0]", {{"t0", "csr"}, {"t1", "dense"}});
  const std::string text =
      "split(k, 64, k0, k1); reorder(i, k0, j, k1); prefetch(B, 8); parallel(i, by=nnz)";
  const std::string kept = NumberedNames(one.program).numbered({schedule::parse_schedule(text)});
  EXPECT_EQ(to_string(NumberedNames(one.program).named(kept).at(0)), text);
  EXPECT_EQ(to_string(NumberedNames(other.program).named(kept).at(0)),
            "split(k0, 64, k0_, k1); reorder(row, k0_, mid, k1); prefetch(t1, 8); parallel(row, "
            "by=nnz)");
  EXPECT_THROW(NumberedNames(one.program).named("T7: parallel(x0)"), UserError);
}

TEST(PlanKey, HasNoneWhereANameIsATensorAndAnIndex) {
  Problem problem("C[i] = A[i,B] * B[B,i]", kCsrTimesDense);
  EXPECT_FALSE(NumberedNames(problem.program).is_clear());
}

}  // namespace
}  // namespace tulle::plan
