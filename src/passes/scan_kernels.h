// The kernels of a prefix sum on a GPU.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"

namespace tulle::passes {

// A scan of buffer[0..length) that a host program can launch any number of times. Three kernels sum
// each tile, scan the sums of the tiles in one block, and scan each tile. The names of its scalars,
// temporary and kernels start with `name`. If the element type cannot hold the total, the total is
// -1.
class ScanKernels {
 public:
  // Appends the steps that must precede the first launch.
  ScanKernels(const loop::Buffer& buffer, const loop::Expr& length, const std::string& name,
              loop::HostProgram& program);
  void launch();
  // Appends the steps that must follow the last launch.
  void end();

 private:
  loop::HostProgram& program_;
  loop::Buffer sums_;
  std::vector<std::string> kernels_;
};

}  // namespace tulle::passes
