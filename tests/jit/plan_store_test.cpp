// Tuned plans on disk: found again, replaced, and silently missing if the disk is unusable.
#include "jit/plan_store.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tulle::jit {
namespace {

namespace fs = std::filesystem;

class PlanStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tulle-plans-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  StoredPlan plan(const std::string& operands, const std::string& schedule = "parallel(x0)") {
    StoredPlan plan;
    plan.statements = "T0[x0] = T1[x0]\n";
    plan.tensors = "T0 f32\n";
    plan.operands = operands;
    plan.machine = "this one";
    plan.schedule = schedule;
    plan.seconds = 0.5;
    plan.default_seconds = 1;
    plan.report = "a\nb";
    return plan;
  }
  std::string file() const { return folder_ + "/plans.sqlite"; }

  std::string folder_;
};

TEST_F(PlanStoreTest, FindsWhatWasStored) {
  PlanStore store(folder_);
  EXPECT_FALSE(store.find(plan("x0~4^3")));
  EXPECT_TRUE(store.store(plan("x0~4^3")));
  const auto found = PlanStore(folder_).find(plan("x0~4^3", ""));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->schedule, "parallel(x0)");
  EXPECT_EQ(found->seconds, 0.5);
  EXPECT_EQ(found->default_seconds, 1);
  EXPECT_EQ(found->report, "a\nb");
  EXPECT_GT(found->made, 0);
  EXPECT_FALSE(store.find(plan("x0~4^4")));
}

TEST_F(PlanStoreTest, KeepsTheLatestAndForgetsAll) {
  PlanStore store(folder_);
  store.store(plan("x0~4^3"));
  store.store(plan("x0~4^3", "unroll(x0, 2)"));
  store.store(plan("x0~4^4"));
  EXPECT_EQ(store.find(plan("x0~4^3"))->schedule, "unroll(x0, 2)");
  EXPECT_EQ(store.list().size(), 2u);
  EXPECT_EQ(store.clear(), 2);
  EXPECT_TRUE(store.list().empty());
  EXPECT_FALSE(store.find(plan("x0~4^3")));
}

TEST_F(PlanStoreTest, BeginsAnewAfterDamage) {
  PlanStore store(folder_);
  store.store(plan("x0~4^3"));
  std::ofstream(file(), std::ios::trunc) << "this is not a database";
  EXPECT_FALSE(store.find(plan("x0~4^3")));
  EXPECT_TRUE(store.list().empty());
  EXPECT_TRUE(store.store(plan("x0~4^3")));
  EXPECT_TRUE(store.find(plan("x0~4^3")));
}

TEST_F(PlanStoreTest, SurvivesDamageInTheMiddle) {
  PlanStore store(folder_);
  for (int at = 0; at < 200; ++at) store.store(plan("x0=" + std::to_string(at)));
  {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(4096);
    stream << std::string(8192, '\xff');
  }
  for (int at = 0; at < 200; ++at) store.find(plan("x0=" + std::to_string(at)));
  EXPECT_TRUE(store.store(plan("x0~4^3")));
  EXPECT_TRUE(store.find(plan("x0~4^3")));
}

TEST_F(PlanStoreTest, DoesWithoutADirectory) {
  PlanStore none("");
  EXPECT_FALSE(none.store(plan("x0~4^3")));
  EXPECT_FALSE(none.find(plan("x0~4^3")));
  EXPECT_EQ(none.clear(), 0);
  PlanStore impossible("/proc/tulle");
  EXPECT_FALSE(impossible.store(plan("x0~4^3")));
  EXPECT_FALSE(impossible.find(plan("x0~4^3")));
}

TEST_F(PlanStoreTest, DoesNotBelieveWhatOthersCanWrite) {
  PlanStore store(folder_);
  store.store(plan("x0~4^3"));
  fs::permissions(file(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(store.find(plan("x0~4^3")));
  EXPECT_FALSE(store.store(plan("x0~4^3")));
  fs::remove(file());
  const std::string elsewhere = folder_ + "/elsewhere";
  std::ofstream(elsewhere) << "";
  fs::create_symlink(elsewhere, file());
  EXPECT_FALSE(store.store(plan("x0~4^3")));
}

TEST_F(PlanStoreTest, ReadsWhereItCannotWrite) {
  PlanStore store(folder_);
  store.store(plan("x0~4^3"));
  fs::permissions(file(), fs::perms::owner_read);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(store.find(plan("x0~4^3")));
  const bool may_write_anyway = geteuid() == 0;
  EXPECT_EQ(store.store(plan("x0~4^4")), may_write_anyway);
}

TEST_F(PlanStoreTest, LosesNothingWhereTheDiskIsFull) {
  PlanStore store(folder_);
  store.store(plan("x0~4^3"));
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const auto size = static_cast<rlim_t>(fs::file_size(file()));
    const rlimit limit{size, size};
    setrlimit(RLIMIT_FSIZE, &limit);
    StoredPlan large = plan("x0~4^4");
    large.report = std::string(1 << 20, 'a');
    const bool is_right = !store.store(large) && store.find(plan("x0~4^3"));
    _exit(is_right ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(store.find(plan("x0~4^3")));
  EXPECT_TRUE(store.store(plan("x0~4^4")));
}

TEST_F(PlanStoreTest, ServesThreadsAndProcessesAtOnce) {
  auto work = [&](int number) {
    PlanStore store(folder_);
    for (int at = 0; at < 10; ++at) {
      const StoredPlan mine = plan("x0=" + std::to_string(10 * number + at));
      if (!store.store(mine) || !store.find(mine)) return false;
    }
    return true;
  };
  std::vector<pid_t> children;
  for (int number = 0; number < 3; ++number) {
    const pid_t child = fork();
    if (child == 0) _exit(work(number) ? 0 : 1);
    children.push_back(child);
  }
  std::vector<std::thread> threads;
  std::vector<char> right(2);
  for (int number = 3; number < 5; ++number) {
    threads.emplace_back([&, number] { right[static_cast<size_t>(number - 3)] = work(number); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(right[0] && right[1]);
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(PlanStore(folder_).list().size(), 50u);
}

}  // namespace
}  // namespace tulle::jit
