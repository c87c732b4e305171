// The log on stderr: one line for each object that is compiled, planned or loaded. TULLE_LOG=info
// or debug enables it. When it is off, it formats nothing and reads no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/check.h"

namespace tulle {

enum class LogLevel : uint8_t { Off, Info, Debug };

// Parses the value of TULLE_LOG; unknown words mean Off.
LogLevel log_level_from(std::string_view word);

// The log level of this process, read from the environment once.
LogLevel log_level();

// Writes "tulle: " and the text with one call, so that output of threads and processes does not
// mix. Further lines of the text are indented.
void write_log(std::string_view text);

// Times consecutive stages. By default it runs only when the log is on.
class StageTimes {
 public:
  explicit StageTimes(bool running = log_level() > LogLevel::Off) : running_(running) {
    if (running_) last_ = Clock::now();
  }

  // Ends the stage of that name, which started when the stage before it ended. Times of stages with
  // the same name are added.
  void end(std::string_view stage);
  // Starts the next stage now instead of at the end of the stage before it.
  void skip() {
    if (running_) last_ = Clock::now();
  }

  std::string text() const;  // "plan 0.12, lower 0.34"

 private:
  using Clock = std::chrono::steady_clock;
  bool running_;
  Clock::time_point last_;
  std::vector<std::pair<std::string_view, double>> stages_;
};

}  // namespace tulle

// TULLE_LOG(Info, "loaded ", name) evaluates its arguments only if it writes them.
#define TULLE_LOG(level, ...)                               \
  do {                                                      \
    if (::tulle::log_level() >= ::tulle::LogLevel::level) { \
      ::tulle::write_log(::tulle::concat(__VA_ARGS__));     \
    }                                                       \
  } while (false)
