// Compiles and runs kernels with a minimal runtime that counts workspaces.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "codegen/library.h"
#include "jit/engine.h"
#include "loop/abi.h"
#include "loop/host.h"

namespace tulle::codegen {

// The observations and settings of the test's runtime.
struct FakeRuntime {
  int live_workspaces = 0;
  int allocations = 0;
  int fail_after = 1 << 30;  // this allocation and later ones return null
  std::string bad_buffer;
  int64_t bad_index = 0, bad_size = 0;
};
FakeRuntime& fake_runtime();

class CompiledKernel {
 public:
  explicit CompiledKernel(const loop::Kernel& kernel, const Target& target = host_target());

  loop::KernelStatus run(std::vector<void*> buffers, std::vector<int64_t> scalars = {},
                         int64_t begin = 0, int64_t end = 0) const;
  const std::string& assembly_text() const { return assembly_; }
  const std::string& llvm_text() const { return llvm_; }

 private:
  std::shared_ptr<const jit::LoadedObject> object_;
  loop::KernelFunction function_;
  std::string llvm_, assembly_;
};

// The presets of features that this machine has, the widest last.
std::vector<std::string> presets_of_host();

// Runs for each preset; skips those that this machine lacks.
class OnPreset : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!host_has(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
  }
};

// A parameter list in the order of the given buffers, with the written ones marked.
loop::Kernel make_kernel(std::vector<std::pair<loop::Buffer, bool>> buffers,
                         std::vector<std::string> sizes, std::vector<loop::Stmt> body);

}  // namespace tulle::codegen
