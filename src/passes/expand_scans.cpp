// Replaces each scan step by its kernels.
#include "passes/expand_scans.h"

#include "passes/scan_kernels.h"
#include "support/check.h"

namespace tulle::passes {

using namespace loop;

HostProgram expand_scans(HostProgram program) {
  std::vector<HostStep> steps = std::move(program.steps);
  program.steps.clear();
  int count = 0;
  for (HostStep& step : steps) {
    if (const auto* scan = std::get_if<ScanStep>(&step)) {
      ScanKernels kernels(scan->buffer, scan->length, concat("scan", count++), program);
      kernels.launch();
      kernels.end();
    } else {
      program.steps.push_back(std::move(step));
    }
  }
  return program;
}

}  // namespace tulle::passes
