// NVIDIA's assembler accepts the PTX of all GPU plans' kernels, and of the kernels in the matrix.
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "codegen/assemble.h"
#include "codegen/emit.h"
#include "differential/default_plans.h"
#include "differential/matrix.h"
#include "differential/on_all_cores.h"
#include "differential/prepared.h"
#include "kernels/kernel_code.h"
#include "loop/plain_names.h"
#include "support/check.h"

namespace tulle::differential {
namespace {

constexpr auto kArchitecture = "sm_90";
constexpr size_t kAtOnce = 40;  // kernels per run of the assembler

// The distinct kernels of cells after lowering.
struct Kernels {
  std::mutex mutex;
  std::set<std::string> seen;
  std::vector<loop::Kernel> of_good_code, of_light_code;
  size_t made = 0;

  void add(const Case& test) {
    const Prepared ready(test);
    const loop::HostProgram program = passes::expand_steps(lower_program(ready.request).program);
    for (const loop::Kernel& kernel : program.kernels) {
      const std::string text = concat(test.light, loop::to_string(loop::with_plain_names(kernel)));
      {
        const std::lock_guard lock(mutex);
        ++made;
        if (!seen.insert(text).second) continue;
      }
      const loop::Kernel passed =
          loop::with_plain_names(optimise_kernel(kernel, code_request(ready.request)));
      const std::lock_guard lock(mutex);
      (test.light ? of_light_code : of_good_code).push_back(passed);
    }
  }
};

std::string complaints(std::span<const loop::Kernel> kernels, bool light) {
  codegen::Target target = codegen::gpu_target(kArchitecture);
  target.light = light;
  std::vector<loop::Kernel> named(kernels.begin(), kernels.end());
  for (size_t at = 0; at < named.size(); ++at) named[at].name = concat("kernel", at);
  codegen::Module module = codegen::emit_gpu(named, target);
  codegen::optimise(module);
  return codegen::complaints_of_ptxas(codegen::ptx(module), kArchitecture, light);
}

size_t count_wrong(std::span<const loop::Kernel> kernels, bool light) {
  std::mutex mutex;
  size_t wrong = 0;
  on_all_cores((kernels.size() + kAtOnce - 1) / kAtOnce, [&](size_t batch) {
    const auto some =
        kernels.subspan(batch * kAtOnce).first(std::min(kAtOnce, kernels.size() - batch * kAtOnce));
    if (complaints(some, light).empty()) return;
    for (const loop::Kernel& kernel : some) {
      const std::string said = complaints({&kernel, 1}, light);
      if (said.empty()) continue;
      const std::lock_guard lock(mutex);
      if (++wrong < 4) ADD_FAILURE() << said << "\n" << loop::to_string(kernel);
    }
  });
  return wrong;
}

// Each in optimised and in light code.
TEST(AssembledPlans, AreTakenByTheAssembler) {
  const std::vector<Planned>& plans = default_plans();
  Kernels kernels;
  on_all_cores(2 * plans.size(), [&](size_t at) {
    Case test = plans[at / 2].test;
    test.light = at % 2 == 1;
    kernels.add(test);
  });
  EXPECT_EQ(count_wrong(kernels.of_good_code, false), 0);
  EXPECT_EQ(count_wrong(kernels.of_light_code, true), 0);
  std::cout << "plans assembled for a GPU: " << plans.size() << " cases, " << kernels.made
            << " kernels, " << kernels.of_good_code.size() << " different ones in good code, "
            << kernels.of_light_code.size() << " in light code\n";
  EXPECT_GT(kernels.of_good_code.size(), 250);
  EXPECT_GT(kernels.of_light_code.size(), 250);
}

// The whole sample with TULLE_TEST_FULL=1, otherwise a part of its cells.
TEST(AssembledMatrix, IsTakenByTheAssembler) {
  const size_t step = std::getenv("TULLE_TEST_FULL") ? 1 : 3;
  std::vector<Case> todo;
  size_t cells_in_all = 0;
  for (const Operation& operation : operations()) {
    const std::vector<Case> all = cells(operation, false);
    cells_in_all += all.size();
    for (size_t at = 0; at < all.size(); at += step) {
      todo.push_back(all[at]);
      todo.back().gpu = true;
    }
  }
  Kernels kernels;
  on_all_cores(todo.size(), [&](size_t at) { kernels.add(todo[at]); });
  const size_t good = kernels.of_good_code.size(), light = kernels.of_light_code.size();
  const size_t wrong =
      count_wrong(kernels.of_good_code, false) + count_wrong(kernels.of_light_code, true);
  std::cout << "matrix assembled for a GPU: " << todo.size() << " of " << cells_in_all << " cells, "
            << kernels.made << " kernels, " << good + light << " different ones (" << light
            << " in light code), " << good + light - wrong << " right\n";
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(good, 500);
  EXPECT_GT(light, 500);
}

}  // namespace
}  // namespace tulle::differential
