// The passes, configured for a target.
#include "kernels/code_request.h"

#include "loop/print.h"
#include "support/log.h"
#include "support/remarks.h"

namespace tulle {

passes::PipelineOptions pass_options(const CodeRequest& request) {
  passes::PipelineOptions options;
  options.checked = request.checked;
  options.verify = request.verify_passes;
  options.backend = codegen::is_gpu(request.target) ? Backend::Gpu : Backend::Cpu;
  options.light = codegen::is_light_gpu(request.target);
  options.masks = !is_gpu(options.backend) && request.masked_vectors;
  options.disabled = request.disabled_passes;
  options.timed = log_level() >= LogLevel::Debug;
  return options;
}

loop::HostProgram optimise_program(loop::HostProgram program, const CodeRequest& request,
                                   const StageSink& sink) {
  passes::PipelineResult result = passes::run_passes(std::move(program), pass_options(request));
  TULLE_LOG(Debug, "passes over ", result.program.name, ": ", result.times.text(), " ms");
  show(sink, "passes",
       [&] { return loop::to_string(result.program) + as_comments(result.remarks); });
  return std::move(result.program);
}

}  // namespace tulle
