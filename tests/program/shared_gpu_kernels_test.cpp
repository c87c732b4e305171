// The kernels that GPU programs share are known in advance.
#include "kernels/shared_gpu_kernels.h"

#include <set>

#include <gtest/gtest.h>

#include "driver/compile.h"
#include "kernels/gpu_kernels.h"
#include "loop/plain_names.h"
#include "loop/print.h"
#include "plan/rewrite/unique_indices.h"

namespace tulle {
namespace {

std::string text_of(const loop::Kernel& kernel) {
  return loop::to_string(loop::with_plain_names(kernel));
}

// The kernels of a sum that needs a sort, and of scans of counts.
std::vector<loop::Kernel> kernels_of_sum(DType index_type) {
  const std::map<std::string, expr::TensorType> types = {
      {"A", {DType::Float32, index_type, Format::parse("csr", 2)}},
      {"B", {DType::Float32, index_type, Format::parse("csc", 2)}}};
  const plan::UniqueProgram program = plan::with_unique_indices(
      expr::resolve(expr::parse_program("C[i,j] = A[i,j] + B[i,j]"), types));
  CompileRequest request;
  request.plan.program = &program;
  request.operands = {"A", "B"};
  for (const char* name : {"A", "B"}) request.plan.statistics[name] = {{200, 200}, 2000};
  request.plan.machine.backend = Backend::Gpu;
  request.plan.machine.threads = 135168;
  return passes::expand_steps(lower_program(request).program).kernels;
}

TEST(SharedGpuKernels, CanAllBeCompiled) {
  CodeRequest request;
  request.target = codegen::gpu_target("sm_90");
  for (const loop::Kernel& kernel : shared_gpu_kernels())
    EXPECT_NO_THROW(generate_ptx({optimise_kernel(kernel, request)}, request.target));
}

TEST(SharedGpuKernels, AreThoseOfEverySortAndScan) {
  std::set<std::string> shared;
  for (const loop::Kernel& kernel : shared_gpu_kernels()) shared.insert(text_of(kernel));
  EXPECT_EQ(shared.size(), 13);
  for (const DType index_type : {DType::Int32, DType::Int64}) {
    std::set<std::string> found;
    for (const loop::Kernel& kernel : kernels_of_sum(index_type)) {
      if (shared.contains(text_of(kernel))) {
        found.insert(text_of(kernel));
      } else {
        EXPECT_FALSE(kernel.name.starts_with("sort0") || kernel.name.starts_with("scan"))
            << loop::to_string(kernel);
      }
    }
    EXPECT_EQ(found.size(), 10);
  }
}

}  // namespace
}  // namespace tulle
