// The process's kernel cache and its keys.
#include "kernels/kernel_code.h"

#include "codegen/library.h"
#include "loop/verify.h"
#include "runtime/kernel_symbols.h"
#include "runtime/thread_pool.h"
#include "support/joined.h"
#include "support/log.h"
#include "support/mutant.h"

namespace tulle {

jit::KernelCache& kernel_cache() {
  static auto* instance = [] {
    jit::Symbols symbols = runtime::kernel_symbols();
    const jit::Symbols functions = codegen::library_symbols();
    symbols.insert(symbols.end(), functions.begin(), functions.end());
    return new jit::KernelCache(symbols, jit::cache_directory_from_environment());
  }();
  return *instance;  // never destroyed: used until the process exits
}

jit::ContentHash key_of(const loop::Kernel& kernel, std::string_view stage,
                        const CodeRequest& request) {
  const codegen::Target& target = request.target;
  const std::string options =
      concat(stage, " ", pass_options(request).masks, " ", target.light ? "light" : "", " without ",
             joined(request.disabled_passes));
  return jit::hash_of({target.triple, target.cpu, target.features, options, active_mutant(),
                       loop::to_string(kernel)});
}

loop::Kernel optimise_kernel(const loop::Kernel& kernel, const CodeRequest& request) {
  StageTimes times;
  loop::HostProgram alone;
  alone.name = kernel.name;
  alone.kernels = {kernel};
  alone = optimise_program(std::move(alone), request);
  times.end("passes");
  loop::verify(alone);
  times.end("verify");
  TULLE_LOG(Debug, kernel.name, ": ", times.text(), " ms");
  return std::move(alone.kernels[0]);
}

FewThreads threads_of(const CodeRequest& request) {
  return {runtime::default_parallelism(), request.host_threads};
}

void name_parameters(LoweredProgram lowered, Executable& executable) {
  for (const loop::BufferParam& param : lowered.program.buffers)
    executable.buffers.push_back(param.buffer->name);
  for (const loop::ScalarParam& param : lowered.program.scalars)
    executable.scalars.push_back(param.name);
  executable.results = std::move(lowered.results);
}

}  // namespace tulle
