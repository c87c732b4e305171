// A thread of a GPU has one number, a chunk of a CPU's work many.
#include "lower/each.h"

#include "lower/frame.h"
#include "lower/kernel_parameters.h"

namespace tulle::lower {

void launch_each(const std::string& name, const loop::Expr& count,
                 const std::function<void(Emitter&, const loop::Expr&)>& body,
                 loop::HostProgram& program, Backend backend) {
  const bool on_gpu = backend == Backend::Gpu;
  const int64_t each = work_per_chunk();
  Names names;
  Frame frame(on_gpu ? Frame::Kind::Threads : Frame::Kind::Workers, name,
              on_gpu ? count : loop::ceil_divide(count, each), names);
  Emitter out(names);
  if (on_gpu) {
    body(out, frame.chunk());
  } else {
    const std::string at = names.fresh("at");
    Emitter inside = out.nested();
    body(inside, loop::Var::make(at));
    const loop::Expr first = frame.chunk() * each;
    out.add(loop::For::make(at, first, loop::minimum(count, first + each), inside.take()));
  }
  program.kernels.push_back(
      with_parameters(name, loop::Block::make({frame.wrap({}, out.take_statements())})));
  frame.launch(program.steps);
}

}  // namespace tulle::lower
