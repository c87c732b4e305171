// Compiles text to a program.
#include "runtime/fixture.h"

#include <cstring>

#include "codegen/emit.h"
#include "codegen/library.h"
#include "loop/parse.h"
#include "runtime/kernel_symbols.h"

// Makes allocations that are too large return null under the address sanitizer, too.
// The sanitizer's own name. NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
// NOLINTEND(bugprone-reserved-identifier)

namespace tulle::runtime {

namespace {

jit::Engine& engine() {
  static jit::Engine engine([] {
    jit::Symbols symbols = kernel_symbols();
    for (auto& symbol : codegen::library_symbols()) symbols.push_back(symbol);
    return symbols;
  }());
  return engine;
}

}  // namespace

void* VectorMemory::allocate(size_t result, const loop::BufferNode& buffer, int64_t elements,
                             bool zeroed) {
  if (fail) return nullptr;
  const auto bytes = static_cast<size_t>(elements * size_of(buffer.element));
  std::vector<Line>& lines = results_[result];
  lines.resize(bytes / sizeof(Line) + 1);
  std::memset(lines.data(), zeroed ? 0 : 0x5a, bytes);
  return lines.data();
}

TestProgram::TestProgram(const std::string& text) {
  const loop::HostProgram program = loop::parse_host_program(text);
  codegen::Module module = codegen::emit_cpu(program.kernels, codegen::host_target());
  codegen::optimise(module);
  std::vector<std::string> names;
  for (const loop::Kernel& kernel : program.kernels) names.push_back(kernel.name);
  object_ = engine().load(codegen::object(module), names);
  std::vector<loop::KernelFunction> functions;
  for (const std::string& name : names) functions.push_back(object_->kernel(name));
  program_ = std::make_unique<CompiledProgram>(program, functions);
}

std::vector<RunResult> TestProgram::run(std::vector<void*> buffers, std::vector<int64_t> scalars,
                                        Parallelism& parallelism) {
  std::vector<RunResult> results(program_->result_count());
  program_->run(buffers, scalars, memory, parallelism, results);
  return results;
}

}  // namespace tulle::runtime
