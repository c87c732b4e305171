// require_one_order refuses exactly the programs whose kernels add floating-point numbers by
// atomics.
#include <gtest/gtest.h>

#include "differential/bound_schedules.h"
#include "differential/prepared.h"
#include "loop/rewrite.h"
#include "tulle/error.h"

namespace tulle::differential {
namespace {

// Whether kernels add floating-point numbers to a result by atomics.
bool adds_in_any_order(const loop::HostProgram& program) {
  bool found = false;
  for (const loop::Kernel& kernel : program.kernels) {
    loop::visit(
        kernel.body,
        [&](const loop::Stmt& stmt) {
          const auto* atomic = stmt.as<loop::Atomic>();
          const bool is_exact =
              atomic && (atomic->op == loop::ReduceOp::Max || atomic->op == loop::ReduceOp::Min);
          found |= atomic && !is_exact && is_float(atomic->buffer->element);
        },
        [](const loop::Expr&) {});
  }
  return found;
}

class OneOrder : public testing::TestWithParam<Bound> {};

TEST_P(OneOrder, IsRefusedWhereAtomicsAddUp) {
  Prepared ready(bound_case(GetParam(), 1));
  const bool varies = adds_in_any_order(lower_program(ready.request).program);
  ready.request.plan.machine.deterministic = true;
  std::string refusal;
  try {
    EXPECT_FALSE(adds_in_any_order(lower_program(ready.request).program));
  } catch (const UserError& error) {
    refusal = error.what();
  }
  const std::string why = "requires the same bits";
  EXPECT_EQ(refusal.find(why) != std::string::npos, varies) << refusal;
}

INSTANTIATE_TEST_SUITE_P(Kept, OneOrder, testing::ValuesIn(bound_schedules()),
                         [](const auto& entry) { return entry.param.name; });

}  // namespace
}  // namespace tulle::differential
