// Looks up and compiles GPU kernels.
#include "kernels/gpu_kernels.h"

#include "codegen/emit.h"
#include "jit/assemble_ptx.h"
#include "loop/plain_names.h"
#include "support/log.h"
#include "support/pack.h"

namespace tulle {

namespace {

constexpr int kRelaxedCapture = 2;  // the value of CU_STREAM_CAPTURE_MODE_RELAXED

}  // namespace

std::string generate_ptx(const std::vector<loop::Kernel>& kernels, const codegen::Target& target,
                         const StageSink& sink) {
  StageTimes times;
  codegen::Module module = codegen::emit_gpu(kernels, target);
  times.end("emit");
  codegen::optimise(module);
  times.end("optimise");
  show(sink, "codegen", [&] { return codegen::print_llvm(module); });
  std::string text = codegen::ptx(module);
  times.end("ptx");
  show(sink, "ptx", [&] { return text; });
  TULLE_LOG(Debug, "code generation: ", times.text(), " ms");
  return text;
}

GpuKernels::GpuKernels(std::vector<loop::Kernel> kernels, CodeRequest request,
                       std::string_view stage)
    : request_(std::move(request)),
      has_passed_(stage == "passes"),
      kernels_(std::move(kernels)),
      wanted_(kernels_.size()) {
  FewThreads threads = threads_of(request_);
  parallel_for_or_throw(threads, static_cast<int>(wanted_.size()), [&](int number) {
    const auto at = static_cast<size_t>(number);
    const loop::Kernel plain = loop::with_plain_names(kernels_[at]);
    const jit::ContentHash key = key_of(plain, stage, request_);
    // Several light kernels share one image, so their names must differ.
    wanted_[at] = {key, {is_light() ? concat(plain.name, "_", key.hex()) : plain.name}};
  });
}

GpuModules GpuKernels::find(Parallelism& threads, bool compiles) const {
  jit::KernelCache::CompileMissing compile;
  if (compiles) {
    compile = [&](const std::vector<size_t>& missing) {
      if (is_light()) return light_images(missing, threads);
      return generate_each(kernels_, missing, threads,
                           [&](const loop::Kernel& kernel) { return compiled(kernel); });
    };
  }
  return find_on_device(wanted_, threads, compile);
}

std::shared_ptr<const jit::GpuModule> GpuKernels::find_or_compile(size_t at) const {
  NoParallelism alone;
  const auto compile = [&](const std::vector<size_t>&) {
    return std::vector<std::vector<char>>{compiled(kernels_[at])};
  };
  return find_on_device({wanted_[at]}, alone, compile).front();
}

void GpuKernels::stay_out_of_captures() {
  int mode = kRelaxedCapture;
  cuda::check(cuda::driver().exchange_capture_mode(&mode), "setting the capture mode");
}

loop::Kernel GpuKernels::ready_for_codegen(const loop::Kernel& kernel) const {
  return loop::with_plain_names(has_passed_ ? kernel : optimise_kernel(kernel, request_));
}

std::vector<char> GpuKernels::compiled(const loop::Kernel& kernel) const {
  const std::string text = generate_ptx({ready_for_codegen(kernel)}, request_.target);
  return {text.begin(), text.end()};
}

// Starting the assembler costs as much as assembling a small kernel. If there are more kernels than
// threads, each thread assembles several kernels into one image, which all of them share.
std::vector<std::vector<char>> GpuKernels::light_images(const std::vector<size_t>& numbers,
                                                        Parallelism& threads) const {
  std::vector<size_t> lengths;
  for (const size_t number : numbers) lengths.push_back(loop::to_string(kernels_[number]).size());
  const std::vector<std::vector<size_t>> groups =
      pack(lengths, static_cast<size_t>(threads.threads()));
  std::vector<std::vector<char>> images(numbers.size());
  parallel_for_or_throw(threads, static_cast<int>(groups.size()), [&](int index) {
    const std::vector<size_t>& group = groups[static_cast<size_t>(index)];
    std::vector<loop::Kernel> together;
    for (const size_t at : group) {
      together.push_back(ready_for_codegen(kernels_[numbers[at]]));
      together.back().name = wanted_[numbers[at]].kernels.front();
    }
    const std::string text = generate_ptx(together, request_.target);
    StageTimes times;
    const std::vector<char> image =
        jit::assemble_ptx(cuda::gpu(request_.device), text, /*light=*/true);
    times.end("assemble");
    TULLE_LOG(Debug, together.size(), " kernels, ", text.size(), " bytes: ", times.text(), " ms");
    for (const size_t at : group) images[at] = image;
  });
  return images;
}

GpuModules GpuKernels::find_on_device(const WantedKernels& wanted, Parallelism& threads,
                                      const jit::KernelCache::CompileMissing& compile) const {
  return kernel_cache().find_gpu(wanted, cuda::gpu(request_.device), is_light(), threads, compile);
}

}  // namespace tulle
