// Steps as data: their text, the names in them, and refusals without exceptions.
#include "schedule/steps.h"

#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "schedule/distribute.h"
#include "schedule/nests.h"
#include "schedule/rewrites.h"

namespace tulle::schedule {
namespace {

using Tracking = Precompute::Tracking;
using Staging = Stage::Staging;
using Balance = Parallel::Balance;
using Part = Bind::Part;

// Expects that the step prints as the text and reads back. Adds the name of its rewrite to `seen`.
void expect_round_trip(const Rewrite& rewrite, const char* text, std::set<std::string>& seen) {
  EXPECT_EQ(to_string(Step{rewrite}), text);
  const Schedule read = parse_schedule(text);
  ASSERT_EQ(read.steps.size(), 1u) << text;
  EXPECT_EQ(read.steps[0].rewrite, rewrite) << text;
  EXPECT_TRUE(check_arguments(rewrite)) << text;
  seen.emplace(kind_of(rewrite).name);
}

TEST(Steps, PrintAndReadBack) {
  std::set<std::string> seen;
  expect_round_trip(Split{"k", 64, "k0", "k1"}, "split(k, 64, k0, k1)", seen);
  expect_round_trip(Split{"k.1", 4, "k.1.block", "k.1.in"}, "split(k.1, 4, k.1.block, k.1.in)",
                    seen);
  expect_round_trip(Reorder{{"i", "k", "j"}}, "reorder(i, k, j)", seen);
  expect_round_trip(Fuse{"i", "j", "f"}, "fuse(i, j, f)", seen);
  expect_round_trip(SplitPositions{"j", 32, "j0", "j1"}, "split_positions(j, 32, j0, j1)", seen);
  expect_round_trip(NumberRows{"i", "r"}, "number_rows(i, r)", seen);
  expect_round_trip(SplitRows{"i", 128, "c", "r"}, "split_rows(i, 128, c, r)", seen);
  expect_round_trip(SplitRows{"i", 128, "c", "r", 1024}, "split_rows(i, 128, c, r, 1024)", seen);
  expect_round_trip(DealRows{"i", 128, "c", "r", 132, 32}, "deal_rows(i, 128, c, r, 132, 32)",
                    seen);
  expect_round_trip(SplitEntries{"i", "j", 32, "c", "e"}, "split_entries(i, j, 32, c, e)", seen);
  expect_round_trip(Precompute{"acc"}, "precompute(acc, ())", seen);
  expect_round_trip(Precompute{"acc", {}, Tracking::Plain, true}, "precompute(acc)", seen);
  expect_round_trip(Precompute{"acc", {"k"}}, "precompute(acc, (k))", seen);
  expect_round_trip(Precompute{"acc", {"k"}, Tracking::Plain, true}, "precompute(acc, k)", seen);
  expect_round_trip(Precompute{"acc", {"k"}, Tracking::Tracked, true},
                    "precompute(acc, k, tracked)", seen);
  expect_round_trip(Precompute{"acc", {"j", "k"}, Tracking::Scanned},
                    "precompute(acc, (j, k), scanned)", seen);
  expect_round_trip(RFactor{"j", "part"}, "rfactor(j, part)", seen);
  expect_round_trip(Stage{"B", "j", Staging::Registers}, "stage(B, j, registers)", seen);
  expect_round_trip(Stage{"B", "j", Staging::Shared, 2}, "stage(B, j, shared, 2)", seen);
  expect_round_trip(Parallel{"i"}, "parallel(i)", seen);
  expect_round_trip(Parallel{"i", Balance::Rows}, "parallel(i, by=rows)", seen);
  expect_round_trip(Parallel{"i", Balance::Nnz}, "parallel(i, by=nnz)", seen);
  expect_round_trip(Parallel{"i", Balance::Merge}, "parallel(i, by=merge)", seen);
  expect_round_trip(Bind{"i", Part::Block}, "bind(i, block)", seen);
  expect_round_trip(Bind{"i", Part::Warp}, "bind(i, warp)", seen);
  expect_round_trip(Bind{"i", Part::Lane}, "bind(i, lane)", seen);
  expect_round_trip(Bind{"i", Part::Thread, true}, "bind(i, thread, sums=atomics)", seen);
  expect_round_trip(Bind{"i", Part::Member}, "bind(i, member)", seen);
  expect_round_trip(Vectorize{"k", 16}, "vectorize(k, 16)", seen);
  expect_round_trip(Unroll{"j", 0}, "unroll(j, 0)", seen);
  expect_round_trip(Prefetch{"B", 16}, "prefetch(B, 16)", seen);
  expect_round_trip(NonTemporal{"C"}, "nontemporal(C)", seen);
  expect_round_trip(FuseLaunches{"C"}, "fuse_launches(C)", seen);
  expect_round_trip(Decompose{"A", "hyb(2,3)"}, "decompose(A, hyb(2,3))", seen);
  std::istringstream names(rewrite_names());
  for (std::string name; std::getline(names >> std::ws, name, ',');)
    EXPECT_TRUE(seen.contains(name)) << name;
}

TEST(Steps, KeepTheStatementThatTheyAreFor) {
  const Step step{.rewrite = Unroll{"j", 2}, .statement = "C"};
  EXPECT_EQ(to_string(step), "C: unroll(j, 2)");
  EXPECT_EQ(parse_schedule("C: unroll(j, 2)").steps.at(0), step);
}

TEST(Steps, OrderSchedules) {
  const Schedule built({Step{Parallel{"i"}}, Step{Unroll{"j", 2}}});
  std::set<Schedule, OrderBySteps> seen = {built};
  // The places in the text are not part of a step.
  EXPECT_TRUE(seen.contains(parse_schedule("parallel(i); unroll(j, 2)")));
  for (const char* other : {"", "parallel(i)", "unroll(j, 2); parallel(i)",
                            "parallel(i); unroll(j, 4)", "parallel(i, by=rows); unroll(j, 2)",
                            "C: parallel(i); unroll(j, 2)", "parallel(i); vectorize(j, 2)"}) {
    EXPECT_TRUE(seen.insert(parse_schedule(other)).second) << other;
  }
}

TEST(Steps, PrintKeywordsLast) {
  EXPECT_EQ(to_string(parse_schedule("parallel(by=nnz, i)")), "parallel(i, by=nnz)");
}

TEST(Steps, TellWhereTheirNamesStand) {
  const std::string text = "precompute(acc, (j, k)); bind(io, block); fuse_launches(C)";
  std::string found;
  for (const Step& step : parse_schedule(text).steps) {
    for (const NameInStep& name : names_of(step)) {
      EXPECT_EQ(name.place.text(), name.name);
      found += name.name + " ";
    }
  }
  EXPECT_EQ(found, "acc j k io C ");
  EXPECT_FALSE(names_of(Step{Unroll{"j", 2}}).at(0).place);
}

TEST(Steps, AreRenamedByRole) {
  const auto rename = [](const std::string& name, ArgumentRole role) -> std::string {
    if (role == ArgumentRole::NewWorkspace) return "w_" + name;
    return is_tensor(role) ? "t_" + name : "l_" + name;
  };
  for (const auto& [before, after] : std::vector<std::pair<const char*, const char*>>{
           {"split(k, 64, k0, k1)", "split(l_k, 64, l_k0, l_k1)"},
           {"reorder(i, k)", "reorder(l_i, l_k)"},
           {"precompute(acc, (j, k), tracked)", "precompute(w_acc, (l_j, l_k), tracked)"},
           {"precompute(acc, k)", "precompute(w_acc, l_k)"},
           {"precompute(acc)", "precompute(w_acc)"},
           {"stage(B, j, shared, 2)", "stage(t_B, l_j, shared, 2)"},
           {"bind(block, block)", "bind(l_block, block)"},
           {"parallel(i, by=nnz)", "parallel(l_i, by=nnz)"},
           {"nontemporal(C)", "nontemporal(t_C)"},
           {"fuse_launches(C)", "fuse_launches(t_C)"},
           {"decompose(A, hyb(2,3))", "decompose(t_A, hyb(2,3))"}}) {
    const Rewrite rewrite = parse_schedule(before).steps.at(0).rewrite;
    EXPECT_EQ(to_string(Step{renamed(rewrite, rename)}), after);
  }
}

TEST(Steps, AreCheckedWithoutText) {
  const auto expect_wrong = [](const Rewrite& rewrite) {
    const Result<> checked = check_arguments(rewrite);
    ASSERT_FALSE(checked) << to_string(Step{rewrite});
    EXPECT_NE(checked.error().why.find("; write "), std::string::npos) << checked.error().why;
  };
  expect_wrong(Split{"k", 0, "k0", "k1"});
  expect_wrong(Vectorize{"k", 6});
  expect_wrong(Unroll{"j", 129});
  expect_wrong(Reorder{{"i"}});
  expect_wrong(Fuse{"i", "i", "f"});
  expect_wrong(DealRows{"i", 8, "c", "r", 4, 32769});
}

// The message of `apply` for the same schedule, without the line of the caller.
std::string thrown_by(const Schedule& schedule, const nest::Nest& nest) {
  try {
    apply(schedule, nest);
  } catch (const UserError& error) {
    const std::string message = error.what();
    const size_t begin = message.find(": ") == std::string::npos ? 0 : message.find(": ") + 2;
    return message.substr(begin, message.find('\n') - begin);
  }
  return "accepted";
}

TEST(TryApply, RefusesInTheWordsOfApply) {
  const nest::Nest nest = nest::parse_nest(kSpmm);
  for (const auto& [text, step] : std::vector<std::pair<const char*, size_t>>{
           {"unroll(j, 2); split(q, 4, a, b)", 1},
           {"reorder(j, i, k); parallel(j)", 1},
           {"fuse(j, k, f)", 0},
           {"vectorize(j, 8)", 0},
           {"split(i, 4, i0, i1); bind(i0, block); bind(k, thread)", 2},
           {"stage(A, i, registers)", 0},
           {"precompute(acc, j)", 0},
           {"parallel(i, by=merge)", 0}}) {
    const Schedule schedule = parse_schedule(text);
    const auto refused = try_apply(schedule, nest);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().step, step) << text;
    EXPECT_EQ(refused.error().why, thrown_by(schedule, nest)) << text;
    EXPECT_FALSE(is_legal(schedule, nest)) << text;
  }
}

TEST(TryApply, PointsAtTheStepThatDisordersAResult) {
  const nest::Nest nest = nest::parse_nest(kSpgemm);
  const Schedule schedule = parse_schedule("unroll(k, 2); reorder(j, i)");
  const auto refused = try_apply(schedule, nest);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().why, thrown_by(schedule, nest));
  EXPECT_FALSE(is_legal(schedule, nest));
  const auto untouched = try_apply({}, nest);
  ASSERT_FALSE(untouched);
  EXPECT_FALSE(untouched.error().step);
  EXPECT_NE(untouched.error().why.find("add precompute(acc, k, tracked)"), std::string::npos)
      << untouched.error().why;
}

TEST(TryApply, GivesTheNestThatApplyGives) {
  const nest::Nest nest = nest::parse_nest(kSpmm);
  const Schedule schedule = parse_schedule("precompute(acc, k); unroll(j, 2); parallel(i)");
  const std::string wanted = nest::to_string(apply(schedule, nest));
  EXPECT_EQ(nest::to_string(*try_apply(schedule, nest)), wanted);
  EXPECT_EQ(nest::to_string(*nest_after(schedule, nest)), wanted);
}

// A step with a number that its text cannot have is refused.
TEST(TryApply, ChecksArguments) {
  Schedule schedule;
  schedule.add(Unroll{"j", 2});
  schedule.add(Vectorize{"k", 6});
  const auto refused = try_apply(schedule, nest::parse_nest(kSpmm));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().step, 1u);
}

TEST(TryDistribute, SaysWhatIsMisplacedWithoutAnException) {
  const expr::ParsedProgram program = expr::parse_program("C[i,k] = A[i,j] * B[j,k]");
  const auto placed = try_distribute(parse_schedule("unroll(j, 2); unroll(q, 2)"),
                                     {names_of_statement(program.statements[0])});
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().place.text(), "q");
  EXPECT_EQ(placed.error().why, "the statement of 'C' does not have the index 'q'; it has i, k, j");
}

}  // namespace
}  // namespace tulle::schedule
