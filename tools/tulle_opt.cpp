// tulle-opt --from STAGE --to STAGE FILE: reads a stage's text, runs the stages between, prints the
// result.
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "codegen/emit.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "passes/pipeline.h"
#include "support/check.h"

namespace tulle {
namespace {

struct Options {
  std::string from, to, file;
  std::string pass;    // this one instead of all
  std::string target;  // a preset of codegen/target.h; the machine itself if empty
  bool checked = false;
};

// What one stage hands to the next.
struct State {
  loop::HostProgram program;
  std::optional<codegen::Module> module;
};

// --- what the stages do ---

void read_loop(State& state, std::string_view text) {
  state.program = loop::parse_host_program(text);
  verify(state.program);
}

std::string print_loop(State& state) { return to_string(state.program); }

void run_passes(State& state, const Options& options) {
  const passes::PipelineOptions pipeline{.checked = options.checked, .verify = true};
  state.program = options.pass.empty()
                      ? passes::run_passes(state.program, pipeline).program
                      : passes::run_pass(options.pass, state.program, pipeline).program;
}

void emit_llvm(State& state, const Options& options) {
  state.module = codegen::emit_cpu(
      state.program.kernels,
      options.target.empty() ? codegen::host_target() : codegen::host_target(options.target));
}

std::string print_llvm(State& state) { return codegen::print_llvm(*state.module); }

void optimise(State& state, const Options&) { codegen::optimise(*state.module); }

std::string print_assembly(State& state) { return codegen::assembly(*state.module); }

// --- the stages, in the order of the walk ---

struct Stage {
  std::string_view name;
  void (*read)(State&, std::string_view text);  // null: it has no text that is read
  void (*arrive)(State&,
                 const Options& options);  // from the stage before; null: nothing leads here
  std::string (*print)(State&);
};

constexpr Stage kStages[] = {
    {"loop", read_loop, nullptr, print_loop},
    {"passes", read_loop, run_passes, print_loop},
    {"llvm", nullptr, emit_llvm, print_llvm},
    {"asm", nullptr, optimise, print_assembly},
};

size_t find_stage(std::string_view name) {
  std::string known;
  for (size_t i = 0; i < std::size(kStages); ++i) {
    if (kStages[i].name == name) return i;
    known += concat(i ? ", " : "", kStages[i].name);
  }
  user_error("there is no stage '", name, "'; the stages are ", known);
}

std::string run(const Options& options, std::string_view text) {
  const size_t from = find_stage(options.from);
  const size_t to = find_stage(options.to);
  if (to < from) user_error(options.to, " comes before ", options.from);
  if (!kStages[from].read) user_error("the text of ", options.from, " is not read back");
  State state;
  kStages[from].read(state, text);
  for (size_t i = from + 1; i <= to; ++i) kStages[i].arrive(state, options);
  return kStages[to].print(state);
}

// --- the command line ---

constexpr std::string_view kUsage =
    "usage: tulle-opt --from STAGE --to STAGE [--pass NAME] [--target PRESET] [--checked] FILE\n"
    "  stages: loop, passes, llvm, asm; FILE may be - for standard input\n";

Options parse_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    const auto value = [&] {
      if (i + 1 == count) user_error(word, " needs a value\n", kUsage);
      return std::string(arguments[++i]);
    };
    if (word == "--from") {
      options.from = value();
    } else if (word == "--to") {
      options.to = value();
    } else if (word == "--pass") {
      options.pass = value();
    } else if (word == "--target") {
      options.target = value();
    } else if (word == "--checked") {
      options.checked = true;
    } else if (options.file.empty() && (word == "-" || !word.starts_with("-"))) {
      options.file = word;
    } else {
      user_error("unexpected ", word, "\n", kUsage);
    }
  }
  if (options.from.empty() || options.to.empty() || options.file.empty()) user_error(kUsage);
  return options;
}

std::string read_text(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream stream(file);
  if (!stream) user_error("cannot read ", file);
  text << stream.rdbuf();
  return text.str();
}

}  // namespace
}  // namespace tulle

int main(int count, char** arguments) {
  try {
    const tulle::Options options = tulle::parse_options(count, arguments);
    std::cout << tulle::run(options, tulle::read_text(options.file));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
