// Finds code of kernels, on a CPU and on a GPU.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/kernel_cache.h"
#include "kernels/code_request.h"
#include "kernels/executable.h"
#include "loop/print.h"
#include "support/parallelism.h"

namespace tulle {

using WantedKernels = std::vector<jit::KernelCache::WantedCode>;

jit::KernelCache& kernel_cache();  // of this process

// The hash of everything that the code of a kernel depends on. `stage` is the stage that produced
// the kernel.
jit::ContentHash key_of(const loop::Kernel& kernel, std::string_view stage,
                        const CodeRequest& request);

// Runs the passes over one lowered kernel.
loop::Kernel optimise_kernel(const loop::Kernel& kernel, const CodeRequest& request);

// The threads that the caller provides for generating code.
FewThreads threads_of(const CodeRequest& request);

// Calls `generate` for the kernels with these indices, on several threads if available, starting
// with the longest kernels.
template <typename Generate>
std::vector<std::vector<char>> generate_each(const std::vector<loop::Kernel>& kernels,
                                             const std::vector<size_t>& numbers,
                                             Parallelism& threads, const Generate& generate) {
  std::vector<std::vector<char>> code(numbers.size());
  std::vector<std::pair<size_t, size_t>> by_length;
  for (size_t at = 0; at < numbers.size(); ++at)
    by_length.emplace_back(loop::to_string(kernels[numbers[at]]).size(), at);
  std::sort(by_length.rbegin(), by_length.rend());
  parallel_for_or_throw(threads, static_cast<int>(numbers.size()), [&](int i) {
    const size_t at = by_length[static_cast<size_t>(i)].second;
    code[at] = generate(kernels[numbers[at]]);
  });
  return code;
}

// The function of each kernel in its code.
template <typename Code>
auto functions_of(const std::vector<std::shared_ptr<const Code>>& code,
                  const WantedKernels& wanted) {
  std::vector<decltype(code[0]->kernel({}))> functions;
  for (size_t at = 0; at < code.size(); ++at)
    functions.push_back(code[at]->kernel(wanted[at].kernels.front()));
  return functions;
}

template <typename Code>
bool is_complete(const std::vector<Code>& code) {
  return std::all_of(code.begin(), code.end(), [](const Code& one) { return one != nullptr; });
}

void name_parameters(LoweredProgram lowered, Executable& executable);

}  // namespace tulle
