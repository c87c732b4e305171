// A run on a GPU: submits the steps of the host program to a stream.
#include "runtime/gpu_run.h"

#include <algorithm>
#include <atomic>

#include "loop/gpu.h"
#include "runtime/run_state.h"
#include "support/check.h"

namespace tulle::runtime {

namespace {

constexpr int kMostDynamicShared =
    8;  // the value of CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

// The launch parameters of a kernel.
struct GpuKernel {
  cuda::DriverFunction function;
  unsigned threads;
  unsigned shared;  // dynamic bytes per launch
};

// A kernel with its function, which may use dynamic shared memory beyond the default limit.
GpuKernel with_function(GpuKernel kernel, cuda::DriverFunction function, const cuda::Gpu& device) {
  kernel.function = function;
  if (kernel.shared == 0) return kernel;
  const cuda::CurrentGpu current(device);
  cuda::check(cuda::driver().set_function_attribute(function, kMostDynamicShared,
                                                    static_cast<int>(kernel.shared)),
              "requesting shared memory");
  return kernel;
}

GpuKernel gpu_kernel(const loop::Kernel& kernel, cuda::DriverFunction function,
                     const cuda::Gpu& device) {
  const int64_t bytes = loop::shared_bytes(kernel.body);
  const auto threads = static_cast<unsigned>(loop::launched_threads(kernel.body));
  if (bytes <= loop::kStaticShared) return {function, threads, 0};
  if (bytes > device.shared_memory) {
    unsupported("the kernel ", kernel.name, " needs ", bytes, " bytes of shared memory, but ",
                device.name, " has ", device.shared_memory, " per block");
  }
  return with_function({function, threads, static_cast<unsigned>(bytes)}, function, device);
}

bool is_capturing(cuda::Stream stream) {
  int capturing = 0;
  cuda::check(cuda::driver().is_capturing(stream, &capturing), "querying the stream");
  return capturing != 0;
}

cuda::Pointer on_device(const void* pointer) { return reinterpret_cast<cuda::Pointer>(pointer); }

// Releases temporaries when it ends, also after an error.
class GpuRun : public RunState {
 public:
  GpuRun(const PreparedProgram& program, const std::vector<GpuKernel>& kernels,
         DeviceMemory& memory, cuda::Stream stream)
      : RunState(program.buffers, program.scalars),
        kernels_(kernels),
        is_temporary_(program.buffers),
        bytes_(program.buffers),
        memory_(memory),
        stream_(stream) {
    for (size_t slot = 0; slot < program.buffers; ++slot) is_temporary_[slot] = false;
  }
  ~GpuRun() {
    for (size_t slot = 0; slot < buffer_count(); ++slot) release(static_cast<int>(slot));
  }

  using RunState::operator();

  void operator()(const AllocateAction& step) {
    const Size size = size_of_allocation(step);
    void* data = nullptr;
    if (step.result >= 0) {
      data = memory_.allocate(static_cast<size_t>(step.result), *step.node, size.elements, false);
    } else if (size.bytes > 0) {
      data = memory_.allocate_temporary(size.bytes);
      buffer(step.buffer) = data;
      is_temporary_[static_cast<size_t>(step.buffer)] = data != nullptr;
    }
    bytes_[static_cast<size_t>(step.buffer)] = size.bytes;
    set_allocated(step, data, size, loop::kDeviceAlignment);
    if (step.zeroed && size.bytes > 0) {
      cuda::check(cuda::driver().fill(on_device(data), 0, static_cast<size_t>(size.bytes), stream_),
                  "filling memory with zeros");
    }
  }

  void operator()(const LaunchAction& step) {
    const GpuKernel& kernel = kernels_[step.kernel];
    int64_t blocks = 1;
    if (step.parallel) {
      const int64_t begin = evaluate(step.begin), end = evaluate(step.end);
      if (begin >= end) return;
      blocks = (end - begin - 1) / step.step + 1;
    }
    if (blocks > INT32_MAX) {
      user_error("the kernel ", step.name, " would need ", blocks,
                 " blocks, more than a GPU launches at once; use a smaller problem");
    }
    StackArray<void*> parameters(step.buffers.size() + step.scalars.size());
    size_t next = 0;
    for (const int slot : step.buffers) parameters[next++] = static_cast<void*>(&buffer(slot));
    for (const int slot : step.scalars) parameters[next++] = &scalar(slot);
    const cuda::Status status =
        cuda::driver().launch(kernel.function, static_cast<unsigned>(blocks), 1, 1, kernel.threads,
                              1, 1, kernel.shared, stream_, parameters.data(), nullptr);
    if (status != 0) cuda::check(status, ("launching the kernel " + step.name).c_str());
  }

  void operator()(const ScanAction& step) {
    internal_error("a scan of ", step.node->name, " on a GPU");
  }
  void operator()(const SortAction&) { internal_error("a sort on a GPU"); }

  void operator()(const ReadAction& step) {
    const int64_t index = index_of(step);
    refuse_capture(step.step.name);
    const auto bytes = static_cast<size_t>(size_of(step.element));
    const auto* from =
        static_cast<const char*>(buffer(step.buffer)) + static_cast<size_t>(index) * bytes;
    int64_t wide = 0;
    int32_t narrow = 0;
    void* into = bytes == sizeof wide ? static_cast<void*>(&wide) : &narrow;
    TULLE_CHECK(is_integer(step.element), "host programs do not read ", name_of(step.element));
    cuda::check(cuda::driver().copy_to_host(into, on_device(from), bytes, stream_),
                "reading a number back");
    cuda::check(cuda::driver().synchronise(stream_), "waiting for the GPU");
    set_read(step, bytes == sizeof wide ? wide : narrow);
  }

  void operator()(const ReleaseAction& step) { release(step.buffer); }

  void run(const std::vector<Action>& actions) {
    const KeepAction* making = nullptr;
    for (size_t at = 0; at < actions.size(); ++at) {
      if (const auto* keep = std::get_if<KeepAction>(&actions[at])) {
        making = keep;
        if (!take(*keep)) continue;
        for (++at; at < keep->end; ++at) pass_over(actions[at]);
      } else if (std::get_if<KeptAction>(&actions[at])) {
        hand_over(*making);
      } else {
        std::visit(*this, actions[at]);
      }
    }
  }

 private:
  // Takes the arrays that these actions would compute from the cache, if they are there.
  bool take(const KeepAction& keep) {
    const std::span<void* const> arrays = memory_.kept(keep.tensor, keep.what);
    if (arrays.empty()) return false;
    for (size_t i = 0; i < keep.arrays.size(); ++i) buffer(keep.arrays[i]) = arrays[i];
    return true;
  }

  // Skips an action whose arrays came from the cache. Scalars are still computed, because later
  // steps may use them.
  void pass_over(const Action& action) {
    if (const auto* compute = std::get_if<ComputeAction>(&action)) return (*this)(*compute);
    const auto* allocation = std::get_if<AllocateAction>(&action);
    if (allocation) set_elements(allocation->buffer, size_of_allocation(*allocation).elements);
  }

  // Other streams may use the arrays next.
  void hand_over(const KeepAction& keep) {
    if (is_capturing()) return;
    std::vector<void*> arrays;
    int64_t bytes = 0;
    for (const int slot : keep.arrays) {
      arrays.push_back(buffer(slot));
      bytes += bytes_[static_cast<size_t>(slot)];
    }
    cuda::check(cuda::driver().synchronise(stream_), "waiting for the GPU");
    if (!memory_.keep(keep.tensor, keep.what, arrays, bytes)) return;
    for (const int slot : keep.arrays) is_temporary_[static_cast<size_t>(slot)] = false;
  }

  bool is_capturing() const { return runtime::is_capturing(stream_); }

  void refuse_capture(const std::string& name) const {
    if (!is_capturing()) return;
    user_error("the program reads ", name,
               " back from the GPU, the size of a result that depends on the data; that cannot be "
               "captured in a CUDA graph: run this statement outside of it");
  }

  void release(int slot) {
    bool& is_temporary = is_temporary_[static_cast<size_t>(slot)];
    if (is_temporary) memory_.release_temporary(buffer(slot));
    is_temporary = false;
  }

  const std::vector<GpuKernel>& kernels_;
  StackArray<bool> is_temporary_;
  StackArray<int64_t> bytes_;  // of allocated temporaries
  DeviceMemory& memory_;
  cuda::Stream stream_;
};

}  // namespace

struct GpuProgram::Prepared {
  PreparedProgram program;
  const cuda::Gpu& device;
  std::vector<GpuKernel> first;   // the first code, which concurrent runs may still use
  std::vector<GpuKernel> better;  // empty until optimised code is ready
  std::shared_ptr<const void> better_code = nullptr;
  LateBytes better_bytes = {};
  std::shared_future<void> expected = {};                       // invalid if no code is expected
  std::atomic<const std::vector<GpuKernel>*> kernels = &first;  // of runs that start now

  // The kernels of a run on that stream.
  const std::vector<GpuKernel>& kernels_for(cuda::Stream stream) const {
    const bool waits = expected.valid() && kernels.load(std::memory_order_acquire) == &first &&
                       is_capturing(stream);
    if (waits) expected.wait();
    return *kernels.load(std::memory_order_acquire);
  }
};

GpuProgram::GpuProgram(const loop::HostProgram& program,
                       const std::vector<cuda::DriverFunction>& kernels, const cuda::Gpu& device) {
  std::vector<GpuKernel> described;
  for (size_t k = 0; k < kernels.size(); ++k) {
    described.push_back(gpu_kernel(program.kernels[k], kernels[k], device));
  }
  prepared_.reset(new Prepared{prepare_program(program, {}), device, std::move(described), {}});
}
GpuProgram::~GpuProgram() = default;

void GpuProgram::expect_kernels(std::shared_future<void> ready) {
  prepared_->expected = std::move(ready);
}

void GpuProgram::replace_kernels(const std::vector<cuda::DriverFunction>& kernels,
                                 std::shared_ptr<const void> code, int64_t bytes) {
  std::vector<GpuKernel>& better = prepared_->better;
  for (size_t k = 0; k < kernels.size(); ++k)
    better.push_back(with_function(prepared_->first[k], kernels[k], prepared_->device));
  prepared_->better_code = std::move(code);
  prepared_->kernels.store(&better, std::memory_order_release);
  prepared_->better_bytes.set(bytes);
}

void GpuProgram::count_better_code(LateBytes::Total total) {
  prepared_->better_bytes.count_in(std::move(total));
}

size_t GpuProgram::buffer_count() const { return prepared_->program.buffer_parameters; }
size_t GpuProgram::scalar_count() const { return prepared_->program.scalar_parameters; }
size_t GpuProgram::result_count() const { return prepared_->program.results.size(); }

void GpuProgram::run(std::span<void* const> buffers, std::span<const int64_t> scalars,
                     DeviceMemory& memory, cuda::Stream stream,
                     std::span<RunResult> results) const {
  const PreparedProgram& program = prepared_->program;
  TULLE_CHECK(buffers.size() == buffer_count() && scalars.size() == scalar_count(), buffers.size(),
              " buffers and ", scalars.size(), " scalars given");
  TULLE_CHECK(results.size() == result_count(), "room for ", results.size(), " results");
  const cuda::CurrentGpu current(prepared_->device);
  GpuRun run(program, prepared_->kernels_for(stream), memory, stream);
  for (size_t slot = 0; slot < buffers.size(); ++slot) {
    if (on_device(buffers[slot]) % loop::kDeviceAlignment != 0) {
      user_error("an operand's array on the GPU is not aligned to ", loop::kDeviceAlignment,
                 " bytes; copy it to new memory (clone)");
    }
    run.set_buffer(slot, buffers[slot]);
  }
  for (size_t slot = 0; slot < scalars.size(); ++slot) run.set_scalar(slot, scalars[slot]);
  run.run(program.actions);
  for (size_t i = 0; i < results.size(); ++i) results[i] = run.result(program.results[i]);
}

}  // namespace tulle::runtime
