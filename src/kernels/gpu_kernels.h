// Finds or compiles the code of GPU kernels.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/code_request.h"
#include "kernels/executable.h"
#include "kernels/kernel_code.h"

namespace tulle {

using GpuModules = std::vector<std::shared_ptr<const jit::GpuModule>>;

// Generates the PTX of kernels.
std::string generate_ptx(const std::vector<loop::Kernel>& kernels, const codegen::Target& target,
                         const StageSink& sink = {});

// Runs passes and codegen on kernels. Each kernel is looked up without the names that its program
// gave it and has its own code, so that programs share kernels.
class GpuKernels {
 public:
  // `stage` is the stage that produced the kernels: "lower" or "passes".
  GpuKernels(std::vector<loop::Kernel> kernels, CodeRequest request, std::string_view stage);

  size_t size() const { return kernels_.size(); }
  const WantedKernels& wanted() const { return wanted_; }

  // The code of all kernels. Missing code is compiled if `compiles` is set, otherwise null.
  GpuModules find(Parallelism& threads, bool compiles) const;

  // The code of one kernel.
  std::shared_ptr<const jit::GpuModule> find_or_compile(size_t at) const;

  // Must be called by a background thread before its first kernel, so that its driver calls do not
  // disturb stream captures of other threads.
  static void stay_out_of_captures();

 private:
  bool is_light() const { return request_.target.light; }
  loop::Kernel ready_for_codegen(const loop::Kernel& kernel) const;
  std::vector<char> compiled(const loop::Kernel& kernel) const;
  std::vector<std::vector<char>> light_images(const std::vector<size_t>& numbers,
                                              Parallelism& threads) const;
  GpuModules find_on_device(const WantedKernels& wanted, Parallelism& threads,
                            const jit::KernelCache::CompileMissing& compile) const;

  CodeRequest request_;
  bool has_passed_;  // through the passes
  std::vector<loop::Kernel> kernels_;
  WantedKernels wanted_;
};

}  // namespace tulle
