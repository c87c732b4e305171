// Obtains the kernels from host programs that only scan or sort.
#include "kernels/shared_gpu_kernels.h"

#include <memory>
#include <mutex>
#include <set>

#include "kernels/gpu_kernels.h"
#include "loop/parse.h"
#include "passes/pipeline.h"
#include "support/background.h"
#include "support/no_fork.h"

namespace tulle {

namespace {

// Counts of entries are scanned as 64-bit integers, regardless of the coordinates' type.
constexpr const char* kScan = R"(host scanned(; n: i64) -> (counts) {
  counts = alloc zeroed i64[n + 1]
  scan counts[0, n)
})";
constexpr const char* kSort = R"(host sorted(keys: i32*; n: i64) -> (order) {
  order = alloc i64[n]
  sort order[0, n) by keys
})";
constexpr const char* kLongSort = R"(host sorted(keys: i64*; n: i64) -> (order) {
  order = alloc i64[n]
  sort order[0, n) by keys
})";

// The shared kernels that a GPU keeps loaded. Each step adds one.
class SharedKernelPreparation {
 public:
  explicit SharedKernelPreparation(const CodeRequest& request) {
    request_.target = request.target;
    request_.gpu_threads = request.gpu_threads;
    request_.device = request.device;
  }

  // Returns whether this was the last step.
  bool step() {
    if (!kernels_) {
      GpuKernels::stay_out_of_captures();
      kernels_ = std::make_unique<const GpuKernels>(shared_gpu_kernels(), request_, "lower");
    }
    if (!kernel_cache().is_on_disk(kernels_->wanted()[next_].key))
      loaded_.push_back(kernels_->find_or_compile(next_));
    return ++next_ == kernels_->size();
  }

 private:
  CodeRequest request_;
  std::unique_ptr<const GpuKernels> kernels_;
  GpuModules loaded_;
  size_t next_ = 0;
};

}  // namespace

std::vector<loop::Kernel> shared_gpu_kernels() {
  std::vector<loop::Kernel> kernels;
  for (const char* text : {kScan, kSort, kLongSort}) {
    const loop::HostProgram program = passes::expand_steps(loop::parse_host_program(text));
    kernels.insert(kernels.end(), program.kernels.begin(), program.kernels.end());
  }
  return kernels;
}

void prepare_shared_gpu_kernels(const CodeRequest& request) {
  static std::mutex mutex;
  static auto* const prepared = new std::set<int>;  // devices
  const NoFork no_fork;
  {
    const std::lock_guard lock(mutex);
    if (!prepared->insert(request.device).second) return;
  }
  // Never destroyed: when the process ends, the driver may already be gone.
  auto* const preparation = new SharedKernelPreparation(request);
  in_idle_background([preparation] { return preparation->step(); });
}

}  // namespace tulle
