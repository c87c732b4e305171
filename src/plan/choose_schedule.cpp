// Dispatches to the schedule rules for CPUs and GPUs.
#include "plan/choose_schedule.h"

#include "plan/cpu/choose_chunks.h"
#include "plan/gpu/choose_gpu_schedule.h"

namespace tulle::plan {

ChosenSchedule choose_schedule(const OrderProblem& problem, const OrderChoice& choice,
                               const nest::Nest& nest, const Machine& machine, const Knobs& knobs) {
  if (is_gpu(machine.backend)) {
    const ScheduleBuilder bound = choose_gpu_schedule(problem, choice, nest, machine);
    if (!bound.empty()) return {bound.schedule(), bound.rules()};
  }
  return choose_chunks(problem, choice, nest, machine, knobs);
}

}  // namespace tulle::plan
