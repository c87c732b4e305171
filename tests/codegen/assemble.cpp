// Runs ptxas on a temporary file.
#include "codegen/assemble.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "support/check.h"

namespace tulle::codegen {

namespace {

// TULLE_BUILD_PTXAS is the path that CMake found, or empty.
std::string ptxas() {
  const char* named = std::getenv("TULLE_PTXAS");
  if (named && *named) return named;
  const std::string found = TULLE_BUILD_PTXAS;
  return found.empty() ? "ptxas" : found;
}

}  // namespace

std::string complaints_of_ptxas(const std::string& ptx, const std::string& architecture,
                                bool light) {
  static std::atomic<int> next = 0;
  const auto file =
      std::filesystem::temp_directory_path() / concat("tulle-", getpid(), "-", next++, ".ptx");
  std::ofstream(file) << ptx;
  const std::string command = concat("'", ptxas(), "' -arch=", architecture, light ? " -O0" : "",
                                     " --warning-as-error -o /dev/null ", file.string(), " 2>&1");
  FILE* pipe = popen(command.c_str(), "r");  // NOLINT(bugprone-command-processor): ours
  if (!pipe) return "ptxas could not be started";
  std::string said;
  std::array<char, 4096> piece{};
  while (const size_t count = fread(piece.data(), 1, piece.size(), pipe)) {
    said.append(piece.data(), count);
  }
  const int status = pclose(pipe);
  std::filesystem::remove(file);
  if (status != 0) return concat(said, "(", command, " failed with ", status, ")");
  return said;
}

}  // namespace tulle::codegen
