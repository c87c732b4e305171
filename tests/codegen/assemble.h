// NVIDIA's assembler, which says whether PTX is valid.
#pragma once

#include <string>

namespace tulle::codegen {

// What ptxas says about the text, empty if it has nothing to object to. It is looked for under
// TULLE_PTXAS, beside the Python of the build and in the path; not finding it is a failure. Light
// code is assembled at the lowest level, as the driver does.
std::string complaints_of_ptxas(const std::string& ptx, const std::string& architecture,
                                bool light = false);

}  // namespace tulle::codegen
