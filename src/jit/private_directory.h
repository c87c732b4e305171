// Directories and files that nobody but the user can have written.
#pragma once

#include <string>
#include <utility>

namespace tulle::jit {

// An open file or directory.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Where the environment wants the cache: TULLE_CACHE_DIR, else tulle/ in the user's cache
// directory. Empty if TULLE_CACHE=0, if there is no home, or if the process runs with more rights
// than its user.
std::string cache_directory_from_environment();

// Opens the directory, making it and its parents with mode 0700 where they are missing. Not open,
// and `problem` says why, if that fails, if somebody else owns it or if others can write to it.
Descriptor open_private_directory(const std::string& path, std::string& problem);

// Whether a plain file of that directory is there under the same conditions. It is not opened: with
// any descriptor that is closed, a process loses its locks on the file.
bool is_private_file(const Descriptor& directory, const std::string& name);

// Opens a plain file of that directory for reading, under the same conditions.
Descriptor open_private_file(const Descriptor& directory, const std::string& name);

}  // namespace tulle::jit
