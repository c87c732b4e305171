// The result formats that a caller chose.
#pragma once

#include <map>
#include <string>

#include "expr/program.h"
#include "tulle/tulle.h"

namespace tulle {

// The formats by name of the result. Throws UserError for a name that no statement assigns, and for
// a format without a name if the program has several results.
std::map<std::string, Format> chosen_formats(const expr::ParsedProgram& program,
                                             const ProgramOptions& options);

}  // namespace tulle
