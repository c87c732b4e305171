// Finds GPU kernels in the cache and compiles the missing ones, first as light code if that pays.
#include "kernels/make_gpu_ready.h"

#include <cstdlib>
#include <string_view>

#include "kernels/gpu_kernels.h"
#include "kernels/shared_gpu_kernels.h"
#include "loop/verify.h"
#include "support/background.h"
#include "support/log.h"

namespace tulle {

namespace {

constexpr int64_t kFewValues = int64_t{1} << 24;  // of all operands: light code runs briefly
constexpr double kFewSteps = 60'000;              // of the threads with the most work

Executable finished(LoweredProgram lowered, GpuModules code, const WantedKernels& wanted,
                    const CodeRequest& request) {
  Executable executable;
  executable.gpu_threads = request.gpu_threads;
  executable.gpu_program = std::make_shared<runtime::GpuProgram>(
      lowered.program, functions_of(code, wanted), cuda::gpu(request.device));
  executable.gpu_code = std::move(code);
  name_parameters(std::move(lowered), executable);
  return executable;
}

// Runs the passes over the whole program, in order to show the stages, and where passes change the
// parameters of kernels.
Executable make_whole_ready(LoweredProgram lowered, const CodeRequest& request,
                            const StageSink& sink) {
  loop::HostProgram& program = lowered.program;
  program = optimise_program(std::move(program), request, sink);
  loop::verify(program);
  if (sink) generate_ptx(program.kernels, request.target, sink);
  const GpuKernels kernels(program.kernels, request, "passes");
  FewThreads threads = threads_of(request);
  return finished(std::move(lowered), kernels.find(threads, true), kernels.wanted(), request);
}

bool works_in_background() {
  static const bool works = [] {
    const char* word = std::getenv("TULLE_BACKGROUND");
    return !word || std::string_view(word) != "0";
  }();
  return works;
}

bool may_begin_light(const CodeRequest& request, double cost) {
  return works_in_background() && request.operand_values <= kFewValues && cost <= kFewSteps;
}

// Compiles optimised code in the background, one kernel at a time, so that a call that needs one of
// the kernels does not wait for the others. Switches the program over when all are ready.
void improve_in_background(std::shared_ptr<const GpuKernels> kernels,
                           const std::shared_ptr<runtime::GpuProgram>& program) {
  const auto job = [kernels = std::move(kernels),
                    program = std::weak_ptr<runtime::GpuProgram>(program)] {
    try {
      GpuKernels::stay_out_of_captures();
      const auto code = std::make_shared<GpuModules>();
      for (size_t at = 0; at < kernels->size(); ++at) {
        await_pauses();
        code->push_back(kernels->find_or_compile(at));
      }
      const std::shared_ptr<runtime::GpuProgram> waiting = program.lock();
      if (!waiting) return;
      int64_t bytes = 0;
      for (const auto& kernel : *code) bytes += kernel->bytes();
      waiting->replace_kernels(functions_of(*code, kernels->wanted()), code, bytes);
    } catch (const std::exception& error) {
      TULLE_LOG(Info, "compiling optimised code failed, light code stays in use: ", error.what());
    }
  };
  program->expect_kernels(in_background(job));
}

// Uses optimised code from the cache and light code for the missing kernels.
Executable make_soon_ready(LoweredProgram lowered, const CodeRequest& request) {
  StageTimes times;
  loop::HostProgram& program = lowered.program;
  program = passes::expand_steps(std::move(program));
  loop::verify_steps(program);
  times.end("expand steps");
  const BackgroundPause pause;
  FewThreads threads = threads_of(request);
  const auto kernels = std::make_shared<const GpuKernels>(program.kernels, request, "lower");
  store_known_program(request, lowered, kernels->wanted(), kernel_cache().disk());
  times.end("find keys");
  GpuModules code = kernels->find(threads, !may_begin_light(request, lowered.cost));
  times.end("look up");
  if (is_complete(code)) return finished(std::move(lowered), code, kernels->wanted(), request);

  std::vector<loop::Kernel> missing;
  for (size_t at = 0; at < code.size(); ++at) {
    if (!code[at]) missing.push_back(program.kernels[at]);
  }
  CodeRequest soon = request;
  soon.target.light = true;
  const GpuKernels in_a_hurry(std::move(missing), soon, "lower");
  const GpuModules light = in_a_hurry.find(threads, true);
  times.end("light code");
  WantedKernels found = kernels->wanted();
  for (size_t at = 0, next = 0; at < code.size(); ++at) {
    if (code[at]) continue;
    code[at] = light[next];
    found[at] = in_a_hurry.wanted()[next++];
  }
  Executable executable = finished(std::move(lowered), code, found, request);
  improve_in_background(kernels, executable.gpu_program);
  times.end("finish");
  TULLE_LOG(Debug, "ready soon: ", times.text(), " ms");
  return executable;
}

}  // namespace

Executable make_gpu_ready(LoweredProgram lowered, const CodeRequest& request,
                          const StageSink& sink) {
  if (sink || request.checked) return make_whole_ready(std::move(lowered), request, sink);
  Executable executable = make_soon_ready(std::move(lowered), request);
  if (works_in_background()) prepare_shared_gpu_kernels(request);
  return executable;
}

std::optional<Executable> make_known_gpu_ready(KnownProgram known, const CodeRequest& request) {
  FewThreads threads = threads_of(request);
  GpuModules code =
      kernel_cache().find_gpu(known.code, cuda::gpu(request.device), false, threads, {});
  if (!is_complete(code)) return std::nullopt;
  return finished(std::move(known.lowered), std::move(code), known.code, request);
}

}  // namespace tulle
