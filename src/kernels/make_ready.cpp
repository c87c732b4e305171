// Finds CPU kernels in the cache and compiles the missing ones.
#include "kernels/make_ready.h"

#include "codegen/emit.h"
#include "kernels/kernel_code.h"
#include "kernels/known_programs.h"
#include "kernels/make_gpu_ready.h"
#include "loop/plain_names.h"
#include "loop/verify.h"
#include "support/log.h"

namespace tulle {

namespace {

// Generates an object file with these kernels.
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

constexpr const char* kAnyKernel = "kernel";  // the name of every kernel in its own object file

// Runs passes and codegen on a lowered kernel.
std::vector<char> compile_kernel(const loop::Kernel& kernel, const CodeRequest& request) {
  loop::Kernel optimised = optimise_kernel(kernel, request);
  optimised.name = kAnyKernel;
  return generate_code({optimised}, request.target);
}

using Functions = std::vector<loop::KernelFunction>;

// Runs passes and codegen on the whole program, in order to show the stages, and where passes
// change the parameters of kernels.
Functions compile_whole(loop::HostProgram& program, const CodeRequest& request,
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

// Finds each kernel by its text without the names that this program gave it, so that programs share
// kernels, above all those of conversions. Cached kernels need no passes.
Functions find_kernels(const LoweredProgram& lowered, const CodeRequest& request,
                       Executable& executable) {
  const loop::HostProgram& program = lowered.program;
  loop::verify_steps(program);
  WantedKernels wanted(program.kernels.size());
  FewThreads threads = threads_of(request);
  parallel_for_or_throw(threads, static_cast<int>(wanted.size()), [&](int number) {
    const auto at = static_cast<size_t>(number);
    loop::Kernel plain = loop::with_plain_names(program.kernels[at]);
    plain.name = kAnyKernel;
    wanted[at] = {key_of(plain, "lower", request), {kAnyKernel}};
  });
  executable.code = kernel_cache().find(wanted, [&](const std::vector<size_t>& missing) {
    return generate_each(program.kernels, missing, threads, [&](const loop::Kernel& kernel) {
      return compile_kernel(kernel, request);
    });
  });
  store_known_program(request, lowered, wanted, kernel_cache().disk());
  return functions_of(executable.code, wanted);
}

Executable finished(Executable executable, LoweredProgram lowered, const Functions& functions) {
  executable.program = std::make_unique<runtime::CompiledProgram>(lowered.program, functions);
  name_parameters(std::move(lowered), executable);
  return executable;
}

}  // namespace

Executable make_ready(LoweredProgram lowered, const CodeRequest& request, const StageSink& sink) {
  if (codegen::is_gpu(request.target)) return make_gpu_ready(std::move(lowered), request, sink);
  Executable executable;
  const bool at_once = sink || request.checked;
  const Functions functions = at_once ? compile_whole(lowered.program, request, sink, executable)
                                      : find_kernels(lowered, request, executable);
  return finished(std::move(executable), std::move(lowered), functions);
}

std::optional<Executable> make_known_ready(const CodeRequest& request, size_t results) {
  std::optional<KnownProgram> known = find_known_program(request, results, kernel_cache().disk());
  if (!known) return std::nullopt;
  if (codegen::is_gpu(request.target)) return make_known_gpu_ready(std::move(*known), request);
  Executable executable;
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
