// Checks PTX by NVIDIA's assembler.
#pragma once

#include <string>

namespace tulle::codegen {

// The errors of ptxas for the text, empty if there are none. Looks for ptxas under TULLE_PTXAS,
// next to the Python of the build and in the path; fails if it is missing. Light code is assembled
// at the lowest optimisation level, as in the driver.
std::string complaints_of_ptxas(const std::string& ptx, const std::string& architecture,
                                bool light = false);

}  // namespace tulle::codegen
