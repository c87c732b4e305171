// Loading, unloading and failing to load object files, on many threads and after a fork.
#include "jit/engine.h"

#include <atomic>
#include <fstream>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "codegen/library.h"
#include "loop/parse.h"
#include "support/check.h"

namespace tulle::jit {
namespace {

// A kernel that writes `number`.
std::vector<char> compile(int number) {
  const auto kernel =
      loop::parse_kernel(concat("kernel answer(C: mut i64*) { C[0] = ", number, " }"));
  codegen::Module module = codegen::emit_cpu({kernel}, codegen::host_target());
  codegen::optimise(module);
  return codegen::object(module);
}

int64_t answer_of(const LoadedObject& object) {
  int64_t answer = 0;
  void* buffers[] = {&answer};
  EXPECT_EQ(object.kernel("answer")(nullptr, buffers, nullptr, 0, 0), loop::kKernelOk);
  return answer;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing raised";
}

TEST(Engine, LoadsObjectsWithTheSameNames) {
  Engine engine({});
  const auto first = engine.load(compile(1), {"answer"});
  const auto second = engine.load(compile(2), {"answer"});
  EXPECT_EQ(answer_of(*first), 1);
  EXPECT_EQ(answer_of(*second), 2);
}

TEST(Engine, ObjectsOutliveTheEngine) {
  auto engine = std::make_unique<Engine>(Symbols{});
  const auto object = engine->load(compile(3), {"answer"});
  engine.reset();
  EXPECT_EQ(answer_of(*object), 3);
}

// The memory that the process maps, in pages.
int64_t mapped_pages() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(Engine, UnloadsWithTheLastHandle) {
  Engine engine({});
  const std::vector<char> bytes = compile(4);
  for (int warm = 0; warm < 100; ++warm) engine.load(bytes, {"answer"});
  const int64_t before = mapped_pages();
  const LoadedTotals others = loaded_totals();
  for (int round = 0; round < 2000; ++round) {
    const auto object = engine.load(bytes, {"answer"});
    EXPECT_EQ(answer_of(*object), 4);
    EXPECT_EQ(loaded_totals().objects, others.objects + 1);
    EXPECT_EQ(loaded_totals().bytes, others.bytes + object->bytes());
  }
  EXPECT_EQ(loaded_totals().objects, others.objects);
  EXPECT_EQ(loaded_totals().bytes, others.bytes);
  EXPECT_LT(mapped_pages() - before, 500);
}

TEST(Engine, SaysWhatIsMissing) {
  Engine engine({});
  const auto kernel = loop::parse_kernel("kernel sine(A: mut f32*) { A[0] = sin(A[0]) }");
  const std::vector<char> bytes =
      codegen::object(codegen::emit_cpu({kernel}, codegen::host_target()));
  const std::string no_import = message_of([&] { engine.load(bytes, {"sine"}); });
  EXPECT_NE(no_import.find("sinf"), std::string::npos) << no_import;
  Engine with_library(codegen::library_symbols());
  EXPECT_NO_THROW(with_library.load(bytes, {"sine"}));
  const std::string no_kernel = message_of([&] { with_library.load(bytes, {"cosine"}); });
  EXPECT_NE(no_kernel.find("cosine"), std::string::npos) << no_kernel;
  EXPECT_THROW(with_library.load(bytes, {"sine"})->kernel("answer"), InternalError);
}

TEST(Engine, RefusesMalformedObjects) {
  Engine engine({});
  std::vector<char> bytes = compile(5);
  EXPECT_THROW(engine.load(std::span<const char>(), {"answer"}), InternalError);
  EXPECT_THROW(engine.load(std::string("not an object"), {"answer"}), InternalError);
  EXPECT_THROW(engine.load(std::span<const char>(bytes).first(100), {"answer"}), InternalError);
  EXPECT_EQ(answer_of(*engine.load(bytes, {"answer"})), 5);
}

TEST(Engine, ManyThreads) {
  Engine engine({});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 10; ++round) {
        const int number = 100 * t + round;
        EXPECT_EQ(answer_of(*engine.load(compile(number), {"answer"})), number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Engine, CompilesAndLoadsInTheChildOfAForkWhileOthersDo) {
  Engine engine({});
  const std::vector<char> bytes = compile(6);
  const auto before = engine.load(bytes, {"answer"});
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) EXPECT_EQ(answer_of(*engine.load(compile(6), {"answer"})), 6);
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // kills a child that waits for a lock forever
      const bool right =
          answer_of(*before) == 6 && answer_of(*engine.load(compile(7), {"answer"})) == 7;
      _exit(right ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace tulle::jit
