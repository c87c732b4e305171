// The loop IR as text that reads like C; parse.h reads it back.
#pragma once

#include <string>

#include "loop/host.h"

namespace tulle::loop {

std::string to_string(const Expr& expr);
// One line for each statement, the last one ended too; a body always stands in braces.
std::string to_string(const Stmt& stmt);
std::string to_string(const Kernel& kernel);
std::string to_string(const HostStep& step);
// The host program, then its kernels.
std::string to_string(const HostProgram& program);

}  // namespace tulle::loop
