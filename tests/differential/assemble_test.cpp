// NVIDIA's assembler accepts the PTX of kernels with GPU schedules.
#include "codegen/assemble.h"

#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "differential/bound_schedules.h"
#include "differential/prepared.h"

namespace tulle::differential {
namespace {

class AssembledSchedule : public testing::TestWithParam<Bound> {};

TEST_P(AssembledSchedule, IsTakenByTheAssembler) {
  const std::string architecture = "sm_90";
  Case test = bound_case(GetParam(), 1);
  for (const bool light : {false, true}) {
    test.light = light;
    const Prepared ready(test);
    const loop::HostProgram program =
        optimise_program(lower_program(ready.request).program, code_request(ready.request));
    codegen::Module module = codegen::emit_gpu(program.kernels, ready.request.target);
    codegen::optimise(module);
    const std::string text = codegen::ptx(module);
    EXPECT_EQ(codegen::complaints_of_ptxas(text, architecture, light), "")
        << to_string(test) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Kept, AssembledSchedule, testing::ValuesIn(bound_schedules()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
