// Where the code of the kernels of a GPU comes from.
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

// codegen: the text of kernels.
std::string generate_ptx(const std::vector<loop::Kernel>& kernels, const codegen::Target& target,
                         const StageSink& sink = {});

// passes and codegen of kernels. Each is looked up without the names that the program gave it, and
// has code of its own, so that programs share what they have in common.
class GpuKernels {
 public:
  // `stage` is the one that the kernels come from, lower or passes.
  GpuKernels(std::vector<loop::Kernel> kernels, CodeRequest request, std::string_view stage);

  size_t size() const { return kernels_.size(); }
  const WantedCode& wanted() const { return wanted_; }

  // The code of all kernels; what is not there is compiled, or null.
  GpuModules find(Parallelism& threads, bool compiles) const;

  // The code of one of them.
  std::shared_ptr<const jit::GpuModule> find_or_compile(size_t at) const;

  // For a thread that works in the background, before its first kernel.
  static void stay_out_of_captures();

 private:
  bool is_light() const { return request_.target.light; }
  loop::Kernel ready_for_codegen(const loop::Kernel& kernel) const;
  std::vector<char> compiled(const loop::Kernel& kernel) const;
  std::vector<std::vector<char>> light_images(const std::vector<size_t>& numbers,
                                              Parallelism& threads) const;
  GpuModules find_on_device(const WantedCode& wanted, Parallelism& threads,
                            const jit::KernelCache::CompileMissing& compile) const;

  CodeRequest request_;
  bool has_passed_;  // the passes
  std::vector<loop::Kernel> kernels_;
  WantedCode wanted_;
};

}  // namespace tulle
