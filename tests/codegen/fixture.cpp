// The test's runtime, and compilation of a kernel to a function.
#include "codegen/fixture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tulle::codegen {

FakeRuntime& fake_runtime() {
  static FakeRuntime runtime;
  return runtime;
}

namespace {

void* allocate(loop::WorkerContext*, int64_t bytes, bool zeroed) {
  FakeRuntime& runtime = fake_runtime();
  if (runtime.allocations++ >= runtime.fail_after) return nullptr;
  void* memory = std::aligned_alloc(64, static_cast<size_t>((bytes + 64) / 64 * 64));
  std::memset(memory, zeroed ? 0 : 0x5a, static_cast<size_t>(bytes));
  ++runtime.live_workspaces;
  return memory;
}

void release(loop::WorkerContext*, void* memory) {
  --fake_runtime().live_workspaces;
  std::free(memory);
}

void sort_i32(int32_t* begin, int32_t* end) { std::sort(begin, end); }
void sort_i64(int64_t* begin, int64_t* end) { std::sort(begin, end); }

void report(loop::WorkerContext*, const char* buffer, int64_t index, int64_t size) {
  FakeRuntime& runtime = fake_runtime();
  runtime.bad_buffer = buffer;
  runtime.bad_index = index;
  runtime.bad_size = size;
}

jit::Engine& engine() {
  static jit::Engine engine([] {
    jit::Symbols symbols = library_symbols();
    symbols.emplace_back("tulle_workspace_allocate", reinterpret_cast<void*>(&allocate));
    symbols.emplace_back("tulle_workspace_release", reinterpret_cast<void*>(&release));
    symbols.emplace_back("tulle_sort_i32", reinterpret_cast<void*>(&sort_i32));
    symbols.emplace_back("tulle_sort_i64", reinterpret_cast<void*>(&sort_i64));
    symbols.emplace_back("tulle_report_out_of_bounds", reinterpret_cast<void*>(&report));
    return symbols;
  }());
  return engine;
}

}  // namespace

CompiledKernel::CompiledKernel(const loop::Kernel& kernel, const Target& target) {
  Module module = emit_cpu({kernel}, target);
  optimise(module);
  llvm_ = print_llvm(module);
  assembly_ = assembly(module);
  object_ = engine().load(object(module), {kernel.name});
  function_ = object_->kernel(kernel.name);
}

loop::KernelStatus CompiledKernel::run(std::vector<void*> buffers, std::vector<int64_t> scalars,
                                       int64_t begin, int64_t end) const {
  return static_cast<loop::KernelStatus>(
      function_(nullptr, buffers.data(), scalars.data(), begin, end));
}

loop::Kernel make_kernel(std::vector<std::pair<loop::Buffer, bool>> buffers,
                         std::vector<std::string> sizes, std::vector<loop::Stmt> body) {
  loop::Kernel kernel{"kernel", {}, {}, loop::Block::make(std::move(body))};
  for (auto& [buffer, writable] : buffers) kernel.buffers.push_back({buffer, writable});
  for (std::string& size : sizes) kernel.scalars.push_back({std::move(size), loop::kIndex});
  return kernel;
}

std::vector<std::string> presets_of_host() {
  std::vector<std::string> found;
  for (const char* preset : {"sse4.2", "avx2", "avx512"}) {
    if (host_has(preset)) found.emplace_back(preset);
  }
  return found;
}

}  // namespace tulle::codegen
