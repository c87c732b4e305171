// tulle-fuzz: random programs, compiled, interpreted and by the reference evaluator, until time is
// up.
//
//   tulle-fuzz [--seconds 120] [--count N] [--seed S] [--interpret] [--keep FOLDER]
//   tulle-fuzz [--explain] CASE.txt ...
//
// Shrinks and prints each case that fails, and keeps it as text in FOLDER. Given such files, runs
// them; --explain shows the stages.
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <unistd.h>

#include "differential/random_case.h"
#include "differential/shrink.h"
#include "support/check.h"

namespace {

using tulle::differential::Case;

constexpr unsigned kLongest = 60;  // seconds for one program

struct Options {
  double seconds = 120;
  uint64_t count = ~uint64_t{0};
  uint64_t seed = std::random_device()();
  int engines = tulle::differential::kBoth;
  std::string keep;
  bool explain = false;
  std::vector<std::string> files;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    auto value = [&]() -> std::string {
      if (++a >= argc) tulle::user_error("a value after ", word);
      return argv[a];
    };
    if (word == "--seconds") {
      options.seconds = std::stod(value());
    } else if (word == "--count") {
      options.count = std::stoull(value());
    } else if (word == "--seed") {
      options.seed = std::stoull(value());
    } else if (word == "--keep") {
      options.keep = value();
    } else if (word == "--explain") {
      options.explain = true;
    } else if (word == "--interpret") {
      options.engines = tulle::differential::kInterpreted;
    } else if (word.starts_with("--")) {
      tulle::user_error("there is no option ", word,
                        "; they are --seconds, --count, --seed, --interpret, --keep, --explain");
    } else {
      options.files.push_back(word);
    }
  }
  return options;
}

// The current case. A signal handler prints it if generated code crashes the process.
char current[16384];

void remember(const Case& test) {
  std::strncpy(current, tulle::differential::to_string(test).c_str(), sizeof current - 1);
}

void die(int signal) {
  const char* said = signal == SIGALRM ? "\ntoo slow:\n" : "\ncrashed:\n";
  (void)!write(2, said, std::strlen(said));
  (void)!write(2, current, std::strlen(current));
  _exit(2);
}

std::string run(const Case& test, int engines, std::string* refused) {
  remember(test);
  alarm(kLongest);
  std::string found = tulle::differential::run_case(test, engines, refused);
  alarm(0);
  return found;
}

std::string shrunk(const Case& test, int engines) {
  const Case small = tulle::differential::shrink(test, [&](const Case& candidate) {
    std::string refused;
    return !run(candidate, engines, &refused).empty();
  });
  std::string refused;
  std::string text = "# " + run(small, engines, &refused) + "\n";
  for (size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    text.insert(at + 1, "# ");
  }
  return text + tulle::differential::to_string(small);
}

int run_files(const Options& options) {
  int wrong = 0;
  for (const std::string& file : options.files) {
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    const Case test = tulle::differential::parse_case(text.str());
    if (options.explain) std::cout << tulle::differential::explain_case(test);
    std::string refused;
    const std::string found = run(test, options.engines, &refused);
    std::cout << file << ": "
              << (!found.empty()    ? found
                  : refused.empty() ? "right"
                                    : "refused: " + refused)
              << "\n";
    wrong += !found.empty();
  }
  return wrong == 0 ? 0 : 1;
}

int fuzz(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::cout << "seed " << options.seed << "\n";
  uint64_t done = 0, refusals = 0, wrong = 0;
  double shown = 0;
  for (; done < options.count && elapsed() < options.seconds; ++done) {
    const Case test = tulle::differential::random_case(options.seed + done);
    std::string refused;
    const std::string found = run(test, options.engines, &refused);
    refusals += !refused.empty();
    if (!found.empty()) {
      ++wrong;
      const std::string text = shrunk(test, options.engines);
      std::cout << "\nseed " << options.seed + done << "\n" << text << std::endl;
      if (!options.keep.empty()) {
        std::ofstream(tulle::concat(options.keep, "/case_", options.seed + done, ".txt")) << text;
      }
    }
    if (elapsed() > shown + 5) {
      shown = elapsed();
      std::cout << done + 1 << " programs, " << refusals << " refused, " << wrong << " wrong\n"
                << std::flush;
    }
  }
  std::cout << done << " programs, " << refusals << " refused, " << wrong << " wrong\n";
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
      std::signal(signal, die);
    const Options options = parse(argc, argv);
    return options.files.empty() ? fuzz(options) : run_files(options);
  } catch (const std::exception& error) {
    std::cerr << "tulle-fuzz: " << error.what() << "\n";
    return 2;
  }
}
