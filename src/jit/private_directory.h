// Directories and files that only the user can write.
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

// The cache directory that the environment selects: TULLE_CACHE_DIR, or else tulle/ in the user's
// cache directory. Empty if TULLE_CACHE=0, if there is no home directory, or if the process has
// more privileges than its user.
std::string cache_directory_from_environment();

// Opens the directory and creates it and its parents with mode 0700 if they are missing. Returns a
// closed descriptor and sets `problem` if that fails, if another user owns the directory or if
// others can write to it.
Descriptor open_private_directory(const std::string& path, std::string& problem);

// Whether a regular file of that directory exists that meets the same conditions. Does not open the
// file: closing any descriptor of a file drops the process's locks on it.
bool is_private_file(const Descriptor& directory, const std::string& name);

// Opens a regular file of that directory for reading, under the same conditions.
Descriptor open_private_file(const Descriptor& directory, const std::string& name);

}  // namespace tulle::jit
