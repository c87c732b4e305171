// Kernels of a GPU by what they are compiled from, in good code or, for the time being, in light.
#include "make_gpu_ready.h"

#include <cstdlib>
#include <string_view>

#include "codegen/emit.h"
#include "kernel_code.h"
#include "loop/plain_names.h"
#include "loop/verify.h"
#include "support/background.h"
#include "support/log.h"

namespace tulle {

namespace {

using Modules = std::vector<std::shared_ptr<const jit::GpuModule>>;

constexpr int64_t kFewValues = int64_t{1} << 24;  // of all operands: light code takes a moment
constexpr double kFewSteps = 60'000;              // of the threads that are busy longest
constexpr int kRelaxedCapture = 2;                // the number of CU_STREAM_CAPTURE_MODE_RELAXED

// codegen: the text of kernels.
std::string generate_ptx(const std::vector<loop::Kernel>& kernels, const codegen::Target& target,
                         const StageSink& sink = {}) {
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

// passes and codegen of kernels. Each is looked up without the names that the program gave it, and
// has code of its own, so that programs share what they have in common.
class KernelSource {
 public:
  KernelSource(const loop::HostProgram& program, CompileRequest request, std::string_view stage)
      : request_(std::move(request)), has_passed_(stage == "passes"), kernels_(program.kernels) {
    request_.program = nullptr;  // may be gone when code is made in the background
    for (const loop::Kernel& kernel : kernels_) {
      const loop::Kernel plain = loop::with_plain_names(kernel);
      wanted_.push_back({key_of(plain, stage, request_), {plain.name}});
    }
  }

  const WantedCode& wanted() const { return wanted_; }

  // The code of all kernels; what is not there is compiled, or null.
  Modules find(Parallelism& threads, bool compiles) const {
    jit::KernelCache::CompileMissing compile;
    if (compiles) {
      compile = [&](const std::vector<size_t>& missing) {
        return generate_each(kernels_, missing, threads,
                             [&](const loop::Kernel& kernel) { return compiled(kernel); });
      };
    }
    return find_on_device(wanted_, threads, compile);
  }

  // The same one after the other, so that nobody who needs one of them waits for the others.
  Modules compile_slowly() const {
    NoParallelism alone;
    Modules code;
    for (size_t at = 0; at < kernels_.size(); ++at) {
      const auto compile = [&](const std::vector<size_t>&) {
        return std::vector<std::vector<char>>{compiled(kernels_[at])};
      };
      code.push_back(find_on_device({wanted_[at]}, alone, compile).front());
    }
    return code;
  }

 private:
  std::vector<char> compiled(const loop::Kernel& kernel) const {
    const loop::Kernel passed = has_passed_ ? kernel : optimise_kernel(kernel, request_);
    const std::string text = generate_ptx({loop::with_plain_names(passed)}, request_.target);
    return {text.begin(), text.end()};
  }

  Modules find_on_device(const WantedCode& wanted, Parallelism& threads,
                         const jit::KernelCache::CompileMissing& compile) const {
    return kernel_cache().find_gpu(wanted, cuda::device(request_.device), request_.target.light,
                                   threads, compile);
  }

  CompileRequest request_;
  bool has_passed_;  // the passes
  std::vector<loop::Kernel> kernels_;
  WantedCode wanted_;
};

Executable finished(LoweredProgram lowered, Modules code, const WantedCode& wanted,
                    const CompileRequest& request) {
  Executable executable;
  executable.gpu_threads = request.machine.threads;
  executable.gpu_program = std::make_shared<runtime::GpuProgram>(
      lowered.program, functions_of(code, wanted), cuda::device(request.device));
  executable.gpu_code = std::move(code);
  name_parameters(std::move(lowered), executable);
  return executable;
}

// The passes over the whole program, for whoever wants to see them, and where they change what
// kernels are called with.
Executable make_whole_ready(LoweredProgram lowered, const CompileRequest& request,
                            const StageSink& sink) {
  loop::HostProgram& program = lowered.program;
  program = optimise_program(std::move(program), request, sink);
  loop::verify(program);
  if (sink) generate_ptx(program.kernels, request.target, sink);
  const KernelSource source(program, request, "passes");
  FewThreads threads = threads_of(request);
  return finished(std::move(lowered), source.find(threads, true), source.wanted(), request);
}

bool may_begin_light(const CompileRequest& request, double cost) {
  static const bool allowed = [] {
    const char* word = std::getenv("TULLE_BACKGROUND");
    return !word || std::string_view(word) != "0";
  }();
  int64_t values = 0;
  for (const auto& [operand, statistics] : request.statistics) values += statistics.count;
  return allowed && values <= kFewValues && cost <= kFewSteps;
}

// Gives the program good code as soon as that is made.
void improve_in_background(std::shared_ptr<const KernelSource> source,
                           const std::shared_ptr<runtime::GpuProgram>& program) {
  const auto job = [source = std::move(source),
                    program = std::weak_ptr<runtime::GpuProgram>(program)] {
    try {
      // What this thread does to the driver is no part of anybody's capture.
      int mode = kRelaxedCapture;
      cuda::check(cuda::driver().exchange_capture_mode(&mode), "working beside captures");
      const auto code = std::make_shared<const Modules>(source->compile_slowly());
      const std::shared_ptr<runtime::GpuProgram> waiting = program.lock();
      if (!waiting) return;
      int64_t bytes = 0;
      for (const auto& kernel : *code) bytes += kernel->bytes();
      waiting->replace_kernels(functions_of(*code, source->wanted()), code, bytes);
    } catch (const std::exception& error) {
      TULLE_LOG(Info, "light code stays in use: ", error.what());
    }
  };
  program->expect_kernels(in_background(job));
}

}  // namespace

Executable make_gpu_ready(LoweredProgram lowered, const CompileRequest& request,
                          const StageSink& sink) {
  if (sink || request.checked) return make_whole_ready(std::move(lowered), request, sink);
  loop::HostProgram& program = lowered.program;
  program = passes::expand_steps(std::move(program));
  loop::verify_steps(program);
  FewThreads threads = threads_of(request);
  const auto source = std::make_shared<const KernelSource>(program, request, "lower");
  keep_known_program(request, lowered, source->wanted(), kernel_cache().disk());
  Modules code = source->find(threads, !may_begin_light(request, lowered.cost));
  if (is_complete(code)) return finished(std::move(lowered), code, source->wanted(), request);

  loop::HostProgram missing;
  for (size_t at = 0; at < code.size(); ++at) {
    if (!code[at]) missing.kernels.push_back(program.kernels[at]);
  }
  CompileRequest soon = request;
  soon.target.light = true;
  const Modules light = KernelSource(missing, soon, "lower").find(threads, true);
  for (auto next = light.begin(); std::shared_ptr<const jit::GpuModule>& one : code) {
    if (!one) one = *next++;
  }
  Executable executable = finished(std::move(lowered), code, source->wanted(), request);
  improve_in_background(source, executable.gpu_program);
  return executable;
}

std::optional<Executable> make_known_gpu_ready(KnownProgram known, const CompileRequest& request) {
  FewThreads threads = threads_of(request);
  Modules code =
      kernel_cache().find_gpu(known.code, cuda::device(request.device), false, threads, {});
  if (!is_complete(code)) return std::nullopt;
  return finished(std::move(known.lowered), std::move(code), known.code, request);
}

}  // namespace tulle
