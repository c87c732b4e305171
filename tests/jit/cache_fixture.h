// A cache directory, and code to store in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "jit/disk_cache.h"
#include "jit/engine.h"
#include "loop/parse.h"
#include "support/check.h"

namespace tulle::jit {

namespace fs = std::filesystem;

inline ContentHash key(int number) { return hash_of({"a test", std::to_string(number)}); }

inline std::vector<char> bytes(size_t count, char value) { return std::vector<char>(count, value); }

// A kernel that writes `number`.
inline std::vector<char> compile(int number) {
  const auto kernel =
      loop::parse_kernel(concat("kernel answer(C: mut i64*) { C[0] = ", number, " }"));
  return codegen::object(codegen::emit_cpu({kernel}, codegen::host_target()));
}

inline int64_t answer_of(const LoadedObject& object) {
  int64_t answer = 0;
  void* buffers[] = {&answer};
  EXPECT_EQ(object.kernel("answer")(nullptr, buffers, nullptr, 0, 0), loop::kKernelOk);
  return answer;
}

// Runs in a child process, which must exit normally.
template <typename Action>
void in_child(const Action& action) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(action() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string place = (fs::temp_directory_path() / "tulle-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(place.data()), nullptr);
    parent_ = place;
    directory_ = parent_ / "cache";
  }

  void TearDown() override {
    if (fs::exists(directory_)) fs::permissions(directory_, fs::perms::owner_all);
    fs::remove_all(parent_);
  }

  DiskCache cache(int64_t limit = DiskCache::kLimit) {
    return DiskCache(directory_.string(), limit);
  }

  fs::path file_of(int number) const { return directory_ / (key(number).hex() + ".o"); }

  size_t file_count() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  // Rewrites the bytes of an entry.
  void change(int number, const std::function<void(std::string&)>& edit) {
    std::ifstream in(file_of(number), std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(in)), {});
    edit(content);
    std::ofstream(file_of(number), std::ios::binary) << content;
  }

  void set_age(const fs::path& file, int seconds) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }

  fs::path parent_, directory_;
};

}  // namespace tulle::jit
