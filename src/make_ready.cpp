// Kernels by what they are compiled from: each is looked up, and only those found nowhere are
// compiled.
#include "make_ready.h"

#include <algorithm>

#include "codegen/emit.h"
#include "codegen/library.h"
#include "jit/kernel_cache.h"
#include "known_programs.h"
#include "loop/plain_names.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "runtime/kernel_symbols.h"
#include "runtime/thread_pool.h"
#include "support/log.h"
#include "support/mutant.h"
#include "support/parallelism.h"

namespace tulle {

namespace {

jit::KernelCache& kernel_cache() {
  static auto* instance = [] {
    jit::Symbols symbols = runtime::kernel_symbols();
    const jit::Symbols functions = codegen::library_symbols();
    symbols.insert(symbols.end(), functions.begin(), functions.end());
    return new jit::KernelCache(symbols, jit::cache_directory_from_environment());
  }();
  return *instance;  // outlives every user at exit
}

// Everything that the code of a kernel depends on. `stage` is the one that the kernel comes from.
jit::ContentHash key_of(const loop::Kernel& kernel, std::string_view stage,
                        const CompileRequest& request) {
  const codegen::Target& target = request.target;
  const std::string options =
      concat(stage, " ", pass_options(request).masks, " ", target.light ? "light" : "");
  return jit::hash_of({target.triple, target.cpu, target.features, options, active_mutant(),
                       loop::to_string(kernel)});
}

// codegen: an object file with these kernels.
std::vector<char> generate_code(const std::vector<loop::Kernel>& kernels,
                                const codegen::Target& target, const StageSink& sink = {}) {
  StageTimes times;
  codegen::Module module = codegen::emit_cpu(kernels, target);
  times.end("emit");
  codegen::optimise(module);
  times.end("optimise");
  show(sink, "codegen", [&] { return codegen::print_llvm(module); });
  show(sink, "assembly", [&] { return codegen::assembly(module); });
  std::vector<char> object = codegen::object(module);
  times.end("object");
  TULLE_LOG(Debug, "code generation: ", times.text(), " ms");
  return object;
}

// codegen: the text of kernels for a GPU.
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

constexpr const char* kAnyKernel = "kernel";  // the name of every kernel in its own object file

// passes and codegen for a kernel that lowering made.
std::vector<char> compile_kernel(const loop::Kernel& kernel, const CompileRequest& request) {
  StageTimes times;
  loop::HostProgram alone;
  alone.name = kernel.name;
  alone.kernels = {kernel};
  alone = optimise_program(std::move(alone), request);
  times.end("passes");
  loop::verify(alone);
  times.end("verify");
  TULLE_LOG(Debug, kernel.name, ": ", times.text(), " ms");
  alone.kernels[0].name = kAnyKernel;
  return generate_code(alone.kernels, request.target);
}

// The threads that the caller has for generating code.
FewThreads threads_of(const CompileRequest& request) {
  return {runtime::default_parallelism(), request.host_threads};
}

// `generate` for those of the kernels that have these numbers, several at a time where there are
// threads, the longest first.
template <typename Generate>
std::vector<std::vector<char>> generate_each(const std::vector<loop::Kernel>& kernels,
                                             const std::vector<size_t>& numbers, FewThreads threads,
                                             const Generate& generate) {
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

using Functions = std::vector<loop::KernelFunction>;
using WantedCode = std::vector<jit::KernelCache::WantedCode>;

// The function of each kernel in the code that was found for it.
template <typename Code>
auto functions_of(const std::vector<std::shared_ptr<const Code>>& code, const WantedCode& wanted) {
  std::vector<decltype(code[0]->kernel(kAnyKernel))> functions;
  for (size_t at = 0; at < code.size(); ++at)
    functions.push_back(code[at]->kernel(wanted[at].kernels.front()));
  return functions;
}

// The passes and the code of the whole program at once: for whoever wants to see the stages, and
// where passes change what kernels are called with.
Functions compile_whole(loop::HostProgram& program, const CompileRequest& request,
                        const StageSink& sink, Executable& executable) {
  program = optimise_program(std::move(program), request, sink);
  loop::verify(program);
  std::vector<std::string> names;
  for (const loop::Kernel& kernel : program.kernels) names.push_back(kernel.name);
  executable.code = {
      kernel_cache().load(generate_code(program.kernels, request.target, sink), names)};
  Functions functions;
  for (const std::string& name : names) functions.push_back(executable.code[0]->kernel(name));
  return functions;
}

// Each kernel as an object of its own, found by its text without the names that this program gave
// it, so that programs share what they have in common: above all conversions. Known kernels need no
// passes.
Functions find_kernels(const LoweredProgram& lowered, const CompileRequest& request,
                       Executable& executable) {
  const loop::HostProgram& program = lowered.program;
  loop::verify_steps(program);
  WantedCode wanted(program.kernels.size());
  FewThreads threads = threads_of(request);
  parallel_for_or_throw(threads, static_cast<int>(wanted.size()), [&](int number) {
    const auto at = static_cast<size_t>(number);
    loop::Kernel plain = loop::with_plain_names(program.kernels[at]);
    plain.name = kAnyKernel;
    wanted[at] = {key_of(plain, "lower", request), {kAnyKernel}};
  });
  executable.code = kernel_cache().find(wanted, [&](const std::vector<size_t>& missing) {
    return generate_each(
        program.kernels, missing, threads_of(request),
        [&](const loop::Kernel& kernel) { return compile_kernel(kernel, request); });
  });
  keep_known_program(request, lowered, wanted, kernel_cache().disk());
  return functions_of(executable.code, wanted);
}

// The same for a GPU, where passes make kernels.
std::vector<cuda::Function> find_gpu_kernels(LoweredProgram& lowered, const CompileRequest& request,
                                             const StageSink& sink, Executable& executable) {
  loop::HostProgram& program = lowered.program;
  program = optimise_program(std::move(program), request, sink);
  loop::verify(program);
  const cuda::Device& device = cuda::device(request.device);
  if (sink) generate_ptx(program.kernels, request.target, sink);
  std::vector<loop::Kernel> kernels;
  WantedCode wanted;
  for (const loop::Kernel& named : program.kernels) {
    kernels.push_back(loop::with_plain_names(named));
    wanted.push_back({key_of(kernels.back(), "passes", request), {kernels.back().name}});
  }
  FewThreads threads = threads_of(request);
  const auto generate = [&](const std::vector<size_t>& missing) {
    return generate_each(kernels, missing, threads, [&](const loop::Kernel& kernel) {
      const std::string text = generate_ptx({kernel}, request.target);
      return std::vector<char>(text.begin(), text.end());
    });
  };
  executable.gpu_code = kernel_cache().find_gpu(wanted, device, threads, generate);
  if (!sink) keep_known_program(request, lowered, wanted, kernel_cache().disk());
  return functions_of(executable.gpu_code, wanted);
}

void name_parameters(LoweredProgram lowered, Executable& executable) {
  for (const loop::BufferParam& param : lowered.program.buffers)
    executable.buffers.push_back(param.buffer->name);
  for (const loop::ScalarParam& param : lowered.program.scalars)
    executable.scalars.push_back(param.name);
  executable.results = std::move(lowered.results);
}

// With the functions of its kernels: on the CPU,
Executable finished(Executable executable, LoweredProgram lowered, const Functions& functions) {
  executable.program = std::make_unique<runtime::CompiledProgram>(lowered.program, functions);
  name_parameters(std::move(lowered), executable);
  return executable;
}
// and on a GPU.
Executable finished(Executable executable, LoweredProgram lowered,
                    const std::vector<cuda::Function>& functions, const CompileRequest& request) {
  executable.gpu_threads = request.machine.threads;
  executable.gpu_program = std::make_unique<runtime::GpuProgram>(lowered.program, functions,
                                                                 cuda::device(request.device));
  name_parameters(std::move(lowered), executable);
  return executable;
}

template <typename Code>
bool is_complete(const std::vector<Code>& code) {
  return std::all_of(code.begin(), code.end(), [](const Code& one) { return one != nullptr; });
}

}  // namespace

Executable make_ready(LoweredProgram lowered, const CompileRequest& request,
                      const StageSink& sink) {
  Executable executable;
  if (codegen::is_gpu(request.target)) {
    const auto functions = find_gpu_kernels(lowered, request, sink, executable);
    return finished(std::move(executable), std::move(lowered), functions, request);
  }
  const bool at_once = sink || request.checked;
  const Functions functions = at_once ? compile_whole(lowered.program, request, sink, executable)
                                      : find_kernels(lowered, request, executable);
  return finished(std::move(executable), std::move(lowered), functions);
}

std::optional<Executable> make_known_ready(const CompileRequest& request) {
  std::optional<KnownProgram> known = find_known_program(request, kernel_cache().disk());
  if (!known) return std::nullopt;
  Executable executable;
  if (codegen::is_gpu(request.target)) {
    FewThreads threads = threads_of(request);
    executable.gpu_code =
        kernel_cache().find_gpu(known->code, cuda::device(request.device), threads, {});
    if (!is_complete(executable.gpu_code)) return std::nullopt;
    const auto functions = functions_of(executable.gpu_code, known->code);
    return finished(std::move(executable), std::move(known->lowered), functions, request);
  }
  executable.code = kernel_cache().find(known->code, {});
  if (!is_complete(executable.code)) return std::nullopt;
  const Functions functions = functions_of(executable.code, known->code);
  return finished(std::move(executable), std::move(known->lowered), functions);
}

int64_t Executable::code_bytes() const {
  int64_t bytes = 0;
  for (const auto& kernel : code) bytes += kernel->bytes();
  for (const auto& kernel : gpu_code) bytes += kernel->bytes();
  return bytes;
}

}  // namespace tulle
