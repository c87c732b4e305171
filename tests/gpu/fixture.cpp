// Compiles a program from text and runs it on the first GPU.
#include "fixture.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "jit/assemble_ptx.h"
#include "jit/gpu_module.h"
#include "loop/parse.h"
#include "loop/verify.h"
#include "passes/pipeline.h"
#include "runtime/gpu_run.h"
#include "support/check.h"
#include "support/half.h"
#include "tulle/tulle.h"

namespace tulle::gpu {

namespace {

constexpr Device kFirst{Device::Kind::Cuda, 0};

class TestMemory final : public runtime::DeviceMemory {
 public:
  explicit TestMemory(CudaMemory& memory) : memory_(memory) {}
  void* allocate(size_t, const loop::BufferNode& buffer, int64_t elements, bool) override {
    return memory_.allocate(buffer.element, elements, false).data;
  }
  void* allocate_temporary(int64_t bytes) override {
    return memory_.allocate(DType::Bool, bytes, false).data;
  }
  void release_temporary(void* data) override { memory_.release_temporary({data, data}); }
  std::span<void* const> kept(const std::string&, const std::string&) override { return {}; }
  bool keep(const std::string&, const std::string&, std::span<void* const>, int64_t) override {
    return false;
  }

 private:
  CudaMemory& memory_;
};

void* upload(const loop::Array& array, CudaMemory& memory) {
  void* data = memory.allocate(array.element, array.size(), false).data;
  if (!array.bytes.empty()) {
    memory.copy_to_device(data, array.bytes.data(), static_cast<int64_t>(array.bytes.size()));
  }
  return data;
}

loop::Array download(const void* data, DType element, int64_t count, CudaMemory& memory) {
  loop::Array array{element, std::vector<std::byte>(static_cast<size_t>(count * size_of(element)))};
  if (count > 0) {
    memory.copy_to_host(array.bytes.data(), data, static_cast<int64_t>(array.bytes.size()));
  }
  return array;
}

int64_t slot_of(const loop::Scalar& scalar, loop::Type type) {
  int64_t slot = 0;
  if (!type.is_float()) return std::get<int64_t>(scalar);
  const double wide = std::get<double>(scalar);
  const auto narrow = static_cast<float>(wide);
  if (type.scalar == DType::Float32) {
    std::memcpy(&slot, &narrow, sizeof narrow);
  } else {
    std::memcpy(&slot, &wide, sizeof wide);
  }
  return slot;
}

double element(const loop::Array& array, int64_t at) {
  switch (array.element) {
    case DType::Bool:
      return loop::to_vector<uint8_t>(array)[static_cast<size_t>(at)];
    case DType::Int32:
      return loop::to_vector<int32_t>(array)[static_cast<size_t>(at)];
    case DType::Int64:
      return static_cast<double>(loop::to_vector<int64_t>(array)[static_cast<size_t>(at)]);
    case DType::Float32:
      return loop::to_vector<float>(array)[static_cast<size_t>(at)];
    case DType::Float16:
    case DType::BFloat16:
      return widen_half(array.element, loop::to_vector<uint16_t>(array)[static_cast<size_t>(at)]);
    case DType::Float64:
      return loop::to_vector<double>(array)[static_cast<size_t>(at)];
  }
  return 0;
}

void expect_same(const std::string& name, const loop::Array& found, const loop::Array& expected,
                 double tolerance) {
  ASSERT_EQ(found.size(), expected.size()) << name;
  if (found.bytes == expected.bytes) return;
  for (int64_t at = 0; at < found.size(); ++at) {
    const double x = element(found, at), y = element(expected, at);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ASSERT_TRUE(std::isfinite(x) && std::isfinite(y))
        << name << "[" << at << "] is " << x << ", not " << y;
    ASSERT_LE(std::abs(x - y), tolerance * std::max(std::abs(x), std::abs(y)))
        << name << "[" << at << "] is " << x << ", not " << y;
  }
}

}  // namespace

loop::Arrays run_on_gpu(const loop::HostProgram& source, const loop::Arrays& buffers,
                        const loop::Scalars& scalars) {
  const loop::HostProgram program =
      passes::run_passes(source, {.backend = Backend::Gpu, .masks = false, .verify = true}).program;
  const cuda::Gpu& device = cuda::gpu(0);
  codegen::Module module =
      codegen::emit_gpu(program.kernels, codegen::gpu_target(device.architecture()));
  codegen::optimise(module);
  std::vector<std::string> names;
  for (const loop::Kernel& kernel : program.kernels)
    names.push_back(codegen::entry_name(kernel.name));
  const jit::GpuModule loaded(device, jit::assemble_ptx(device, codegen::ptx(module), false),
                              names);
  std::vector<cuda::DriverFunction> functions;
  for (const std::string& name : names) functions.push_back(loaded.kernel(name));
  const runtime::GpuProgram ready(program, functions, device);

  CudaMemory memory(kFirst, nullptr);
  TestMemory results_memory(memory);
  std::vector<void*> pointers;
  std::vector<int64_t> slots;
  for (const auto& param : program.buffers)
    pointers.push_back(upload(buffers.at(param.buffer->name), memory));
  for (const auto& param : program.scalars)
    slots.push_back(slot_of(scalars.at(param.name), param.type));
  std::vector<runtime::RunResult> results(ready.result_count());
  ready.run(pointers, slots, results_memory, nullptr, results);

  loop::Arrays arrays;
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const auto& [buffer, writable] = program.buffers[b];
    if (!writable) continue;
    arrays.insert_or_assign(buffer->name, download(pointers[b], buffer->element,
                                                   buffers.at(buffer->name).size(), memory));
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const loop::BufferNode& buffer = *program.results[r];
    if (results[r].elements < 0) continue;  // a parameter
    arrays.insert_or_assign(buffer.name,
                            download(results[r].data, buffer.element, results[r].elements, memory));
  }
  return arrays;
}

void expect_same(const std::string& program_text, const loop::Arrays& buffers,
                 const loop::Scalars& scalars, double tolerance) {
  const loop::HostProgram program = loop::parse_host_program(program_text);
  loop::verify(program);
  const loop::Arrays expected = loop::interpret(program, buffers, scalars);
  const loop::Arrays found = run_on_gpu(program, buffers, scalars);
  for (const auto& [name, array] : expected) {
    ASSERT_TRUE(found.contains(name)) << name;
    expect_same(name, found.at(name), array, tolerance);
  }
}

loop::Array numbers(DType type, int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (int64_t& value : values) value = static_cast<int64_t>(random() % 17) - 8;
  const auto as = [&](auto zero) {
    return loop::to_array(type, std::vector<decltype(zero)>(values.begin(), values.end()));
  };
  switch (type) {
    case DType::Bool:
      for (int64_t& value : values) value = value > 0;
      return as(uint8_t{0});
    case DType::Int32:
      return as(int32_t{0});
    case DType::Int64:
      return as(int64_t{0});
    case DType::Float32:
      return as(float{0});
    case DType::Float64:
      return as(double{0});
    default:
      internal_error("no numbers of type ", name_of(type));
  }
}

}  // namespace tulle::gpu
