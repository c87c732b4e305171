// Operators for tuning: candidates to try, keeping a found schedule, and the stored plans.
#include <cstdio>
#include <string>
#include <vector>

#include <torch/csrc/stable/library.h>

#include "boxing.h"
#include "call_frame.h"
#include "devices.h"
#include "errors.h"

namespace tulle::shim {

namespace {

// Separators of fields and of records; neither occurs in text.
constexpr char kField = '\x1f', kRecord = '\x1e';

std::string exact(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

// Each candidate: its estimated seconds, its statement, its schedule.
std::string candidates(std::string_view key, AtenTensorHandle sizes,
                       std::span<const OwnedTensor> tensors) {
  CallFrame frame(find_program(key));
  frame.bind(sizes, tensors);
  std::string text;
  for (const ScheduleCandidate& found :
       frame.prepared().program->candidates(frame.views(), run_options_on(frame.device()))) {
    text += exact(found.seconds) + kField + found.statement + kField + found.schedule + kRecord;
  }
  return text;
}

// The members of TunedPlan in order.
std::string tuned_plans_text() {
  std::string text;
  for (const TunedPlan& plan : tuned_plans()) {
    for (const std::string* part :
         {&plan.statements, &plan.tensors, &plan.operands, &plan.machine, &plan.schedule})
      text += *part + kField;
    text += exact(plan.seconds) + kField + exact(plan.default_seconds) + kField + plan.report +
            kField + std::to_string(plan.made) + kRecord;
  }
  return text;
}

void candidates_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  const OwnedTensor sizes = take_tensor(stack[1]);
  const std::vector<OwnedTensor> tensors = take_list(stack[2]);
  stack[0] =
      with_named_errors([&] { return give_string(candidates(key.view(), sizes.get(), tensors)); });
}

void keep_schedule_boxed(StableIValue* stack, uint64_t, uint64_t) {
  const StringArgument key(stack[0]);
  const OwnedTensor sizes = take_tensor(stack[1]);
  const std::vector<OwnedTensor> tensors = take_list(stack[2]);
  const StringArgument schedule(stack[3]);
  const auto seconds = torch::stable::detail::to<double>(stack[4]);
  const auto default_seconds = torch::stable::detail::to<double>(stack[5]);
  const StringArgument report(stack[6]);
  with_named_errors([&] {
    CallFrame frame(find_program(key.view()));
    frame.bind(sizes.get(), tensors);
    frame.prepared().program->keep_schedule(
        frame.views(), run_options_on(frame.device()),
        {std::string(schedule.view()), seconds, default_seconds, std::string(report.view())});
  });
}

void tuned_plans_boxed(StableIValue* stack, uint64_t, uint64_t) {
  stack[0] = with_named_errors([&] { return give_string(tuned_plans_text()); });
}

void forget_boxed(StableIValue* stack, uint64_t, uint64_t) {
  stack[0] = torch::stable::detail::from(with_named_errors([&] { return forget_tuned_plans(); }));
}

void cache_directory_boxed(StableIValue* stack, uint64_t, uint64_t) {
  stack[0] = with_named_errors([&] { return give_string(cache_directory()); });
}

void implement(torch::stable::detail::StableLibrary& library) {
  library.impl("candidates", &candidates_boxed);
  library.impl("keep_schedule", &keep_schedule_boxed);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(tulle, library) {
  library.def("candidates(str key, Tensor sizes, Tensor[] tensors) -> str");
  library.def(
      "keep_schedule(str key, Tensor sizes, Tensor[] tensors, str schedule, float seconds, float "
      "default_seconds, str report) -> ()");
  library.def("tuned_plans() -> str");
  library.def("forget_tuned_plans() -> int");
  library.def("cache_directory() -> str");
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CompositeExplicitAutograd, library) {
  library.impl("tuned_plans", &tuned_plans_boxed);
  library.impl("forget_tuned_plans", &forget_boxed);
  library.impl("cache_directory", &cache_directory_boxed);
}

STABLE_TORCH_LIBRARY_IMPL(tulle, CPU, library) { implement(library); }
STABLE_TORCH_LIBRARY_IMPL(tulle, CUDA, library) { implement(library); }

}  // namespace tulle::shim
