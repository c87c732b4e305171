// The formats of results that a caller asks for.
#pragma once

#include <map>
#include <string>

#include "expr/program.h"
#include "tulle/tulle.h"

namespace tulle {

// By name of the result. UserError for a name that no statement assigns, and for a format without a
// name where the program has several results.
std::map<std::string, Format> chosen_formats(const expr::ParsedProgram& program,
                                             const ProgramOptions& options);

}  // namespace tulle
