// Runs schedules of the search space, compiled and interpreted, for the CPU and a GPU. All give the
// same results.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "differential/differential.h"
#include "differential/prepared.h"
#include "driver/schedule_candidates.h"

namespace tulle::differential {
namespace {

Operand sparse(const char* name, const char* format, std::vector<int64_t> sizes) {
  return {.name = name, .format = format, .sizes = std::move(sizes)};
}
Operand dense(const char* name, std::vector<int64_t> sizes) {
  return {.name = name, .sizes = std::move(sizes)};
}

// Runs the default schedule and others across the whole space.
void run_some(Case test) {
  const size_t most = std::getenv("TULLE_TEST_FULL") ? 150 : 12;
  std::vector<ScheduleCandidate> found;
  {
    const Prepared prepared(test);
    found = schedule_candidates(prepared.request);
  }
  ASSERT_FALSE(found.empty());
  const size_t step = std::max<size_t>(1, found.size() / most);
  for (size_t at = 0; at < found.size(); at += step) {
    test.schedule = found[at].schedule;
    std::string refused;
    EXPECT_EQ(run_case(test, test.gpu ? kInterpreted : kBoth, &refused), "") << to_string(test);
    // a planned schedule is legal
    EXPECT_TRUE(at == 0 || refused.empty()) << to_string(test) << refused;
  }
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {.text = "C[i,k] = A[i,j] * B[j,k]",
       .operands = {sparse("A", "csr", {13, 9}), dense("B", {9, 40})}},
      {.text = "C[i,k] = A[i,j] * B[j,k]",
       .operands = {sparse("A", "bsr(2,3)", {13, 9}), dense("B", {9, 20})}},
      {.text = "C[i,k] = A[i,j] * B[j,k]",
       .operands = {sparse("A", "csc", {13, 9}), dense("B", {9, 20})}},
      {.text = "C[i,k] = A[i,j] * B[j,k]",
       .operands = {sparse("A", "{ rows(nnz<=2): ell(2); rest: csr }", {13, 9}),
                    dense("B", {9, 20})}},
      {.text = "C[i,k] = A[i,j] * B[j,k]",
       .operands = {sparse("A", "sr-bcrs(4,2)", {13, 9}), dense("B", {9, 20})}},
      {.text = "C[i,k] = A[i,j] * B[j,k]",
       .operands = {sparse("A", "dia-csr(-1,1)", {13, 9}), dense("B", {9, 20})}},
      {.text = "C[i,k] = A[i,j] * B[j,k]",
       .operands = {sparse("A", "{ blocks(2,2, fill>=0.7): bsr(2,2); rest: csr }", {13, 9}),
                    dense("B", {9, 20})}},
      {.text = "C[i,k] = A[i,j] * B[j,k]\nD[i] = C[i,k] * C[i,k]",
       .operands = {sparse("A", "{ windows(4, reuse>=1.5): sr-bcrs(4,2); rest: csr }", {13, 9}),
                    dense("B", {9, 20})}},
      {.text = "y[i] = A[i,j] * x[j]", .operands = {sparse("A", "csr", {37, 9}), dense("x", {9})}},
      {.text = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       .operands = {sparse("A", "csr", {13, 9}), dense("Q", {13, 16}), dense("K", {9, 16})}},
      {.text = "C[i,k] = A[i,j] * B[j,k]",
       .operands = {sparse("A", "csr", {13, 9}), sparse("B", "csr", {9, 8})}},
      {.text = "C[j,i] = A[i,j] + B[i,j]",  // sorted afterwards
       .operands = {sparse("A", "csr", {13, 9}), sparse("B", "csr", {13, 9})},
       .out_formats = {{"C", "csr"}}},
      {.text = "C[i,k] = A[i,j] * B[j,k]",  // an operand is converted
       .operands = {sparse("A", "bsr(2,3)", {13, 9}), sparse("B", "csc", {9, 8})}},
      {.text = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       .operands = {sparse("A", "csc", {13, 9}), dense("Q", {13, 16}), dense("K", {9, 16})}},
      {.text = "y[i] = argmax(j, A[i,j])", .operands = {sparse("A", "coo", {13, 9})}},
      {.text = "y[i] = x[i] + A[i,j] * x[j]",
       .operands = {sparse("A", "{ band(-1,1): dia; rest: csr }", {13, 13}), dense("x", {13})}},
      {.text = "y[i] = logsumexp(j in A[i,j], A[i,j])",
       .operands = {sparse("A", "hyb(1,1)", {13, 9})}},
      {.text = "T[i,k] = A[i,j] * B[j,k]\nD[i] = T[i,k] * T[i,k]",
       .operands = {sparse("A", "csr", {13, 9}), dense("B", {9, 20})}},
  };
  return all;
}

// Halves, which accumulate in f32: in one sum, and over parts.
std::vector<Case> cases_of_halves() {
  std::vector<Case> found(cases().begin(), cases().begin() + 4);
  found.push_back({.text = "y[j] = A[i,j] * x[i]",
                   .operands = {sparse("A", "csr", {37, 9}), dense("x", {37})}});
  found.push_back(
      {.text = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]",
       .operands = {sparse("A", "csr", {13, 9}), dense("Q", {13, 16}), dense("K", {9, 16})}});
  for (size_t at = 0; at < found.size(); ++at) {
    for (Operand& operand : found[at].operands)
      operand.type = at % 2 == 0 ? DType::Float16 : DType::BFloat16;
  }
  return found;
}

TEST(Space, SchedulesOfHalvesComputeTheSame) {
  for (const Case& test : cases_of_halves()) {
    for (const bool gpu : {false, true}) {
      Case here = test;
      here.gpu = gpu;
      run_some(here);
    }
  }
}

TEST(Space, PartsWithDifferentLoopsHaveSchedulesOfTheirOwn) {
  for (const bool gpu : {false, true}) {
    Case test{.text = "C[i,k] = A[i,j] * B[j,k]",
              .operands = {sparse("A", "{ blocks(2,2, fill>=0.7): bsr(2,2); rest: csr }", {13, 9}),
                           dense("B", {9, 20})}};
    test.gpu = gpu;
    const Prepared prepared(test);
    const std::vector<ScheduleCandidate> found = schedule_candidates(prepared.request);
    for (const char* part : {"C.add0: ", "C.add1: "}) {
      EXPECT_TRUE(
          std::any_of(found.begin(), found.end(),
                      [&](const ScheduleCandidate& one) { return one.schedule.starts_with(part); }))
          << part << (gpu ? "gpu" : "cpu");
    }
  }
}

TEST(Space, SchedulesForTheCpuComputeTheSame) {
  for (const Case& test : cases()) run_some(test);
}

TEST(Space, SchedulesForAGpuComputeTheSame) {
  for (Case test : cases()) {
    test.gpu = true;
    run_some(test);
  }
}

}  // namespace
}  // namespace tulle::differential
