// The kernels of a prefix sum on a GPU.
#pragma once

#include <string>
#include <vector>

#include "loop/host.h"

namespace tulle::passes {

// A scan of buffer[0..length) that a host program launches any number of times: the sums of tiles,
// the scan of those by one block, the scan of each tile. Its scalars, temporary and kernels have
// names that begin with `name`. A total that the buffer's elements cannot hold becomes -1.
class ScanKernels {
 public:
  // Appends what has to come before the first launch.
  ScanKernels(const loop::Buffer& buffer, const loop::Expr& length, const std::string& name,
              loop::HostProgram& program);
  void launch();
  // Appends what has to come after the last.
  void end();

 private:
  loop::HostProgram& program_;
  loop::Buffer sums_;
  std::vector<std::string> kernels_;
};

}  // namespace tulle::passes
