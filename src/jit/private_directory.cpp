// Checks ownership on the open descriptor, so that the checked file is the one that is used.
#include "jit/private_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

namespace tulle::jit {

namespace {

std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value ? value : "";
}

// The reason for which the file is not trusted; empty if it is trusted.
std::string distrust(const struct stat& status) {
  if (status.st_uid != geteuid()) return "it belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH)) return "others can write to it; chmod go-w helps";
  return {};
}

void make_with_parents(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno != ENOENT) return;
  const size_t slash = path.find_last_of('/', path.find_last_not_of('/'));
  if (slash == std::string::npos || slash == 0) return;
  make_with_parents(path.substr(0, slash));
  mkdir(path.c_str(), 0700);
}

Descriptor open_directory(const std::string& path) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::string cache_directory_from_environment() {
  if (variable("TULLE_CACHE") == "0") return {};
  std::string chosen = variable("TULLE_CACHE_DIR");
  if (!chosen.empty()) return chosen;
  const std::string caches = variable("XDG_CACHE_HOME");
  if (!caches.empty() && caches.front() == '/') return caches + "/tulle";
  const std::string home = variable("HOME");
  return home.empty() || home.front() != '/' ? "" : home + "/.cache/tulle";
}

Descriptor open_private_directory(const std::string& path, std::string& problem) {
  Descriptor directory = open_directory(path);
  if (!directory && errno == ENOENT) {
    make_with_parents(path);
    directory = open_directory(path);
  }
  struct stat status;
  if (!directory || fstat(directory.number(), &status) != 0) {
    problem = std::strerror(errno);
    return Descriptor();
  }
  problem = distrust(status);
  return problem.empty() ? std::move(directory) : Descriptor();
}

bool is_private_file(const Descriptor& directory, const std::string& name) {
  struct stat status;
  return fstatat(directory.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(status.st_mode) && distrust(status).empty();
}

Descriptor open_private_file(const Descriptor& directory, const std::string& name) {
  Descriptor file(
      openat(directory.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  const bool is_trusted = file && fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) &&
                          distrust(status).empty();
  return is_trusted ? std::move(file) : Descriptor();
}

}  // namespace tulle::jit
