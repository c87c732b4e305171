// Prints the loop IR as text that reads like C. parse.h parses it.
#pragma once

#include <string>

#include "loop/host.h"

namespace tulle::loop {

std::string to_string(const Expr& expr);
// One line per statement, each with a final newline. Bodies always have braces.
std::string to_string(const Stmt& stmt);
std::string to_string(const Kernel& kernel);
std::string to_string(const HostStep& step);
// The host program, followed by its kernels.
std::string to_string(const HostProgram& program);

}  // namespace tulle::loop
