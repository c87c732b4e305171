// A chunk is one number.
#include "lower/each.h"

#include "lower/frame.h"
#include "lower/kernel_parameters.h"

namespace tulle::lower {

void launch_each(const std::string& name, const loop::Expr& count,
                 const std::function<void(Emitter&, const loop::Expr&)>& body,
                 loop::HostProgram& program, Device device) {
  Names names;
  Frame frame(device == Device::Gpu ? Frame::Kind::Threads : Frame::Kind::Workers, name, count,
              names);
  Emitter out(names);
  body(out, frame.chunk());
  program.kernels.push_back(
      with_parameters(name, loop::Block::make({frame.wrap({}, out.take_statements())})));
  frame.launch(program.steps);
}

}  // namespace tulle::lower
