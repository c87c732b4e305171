// tulle-opt --from STAGE --to STAGE FILE: reads a stage's text, runs the stages between, prints the
// result.
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "codegen/emit.h"
#include "driver/compile.h"
#include "driver/machine.h"
#include "expr_file.h"
#include "loop/parse.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "passes/pipeline.h"
#include "schedule/program.h"
#include "support/check.h"
#include "support/log.h"
#include "support/remarks.h"

namespace tulle {
namespace {

// In the order of the walk. Lower and Passes are loop IR, before and after the passes.
enum class Stage : uint8_t { Expr, Plan, Nest, Schedule, Lower, Passes, Llvm, Asm };

struct StageName {
  std::string_view name;
  Stage stage;
  bool is_read;
};
constexpr StageName kStages[] = {
    {"expr", Stage::Expr, true},     {"plan", Stage::Plan, true},
    {"nest", Stage::Nest, true},     {"schedule", Stage::Schedule, true},
    {"lower", Stage::Lower, true},   {"loop", Stage::Lower, true},
    {"passes", Stage::Passes, true}, {"llvm", Stage::Llvm, false},
    {"asm", Stage::Asm, false},      {"ptx", Stage::Asm, false},
};

const StageName& find_stage(std::string_view name) {
  std::string known;
  for (const StageName& stage : kStages) {
    if (stage.name == name) return stage;
    known += concat(known.empty() ? "" : ", ", stage.name);
  }
  user_error("there is no stage '", name, "'; the stages are ", known);
}

struct Options {
  std::string from, to, file;
  std::string schedule;               // replaces the planned schedule
  std::string pass;                   // the only pass to run; empty: all
  std::string disabled_passes;        // in the syntax of TULLE_PASSES
  std::set<std::string> print_after;  // passes
  bool time_passes = false;
  bool time_stages = false;
  int gradients = 0;   // how many times to derive the program
  std::string target;  // a preset of codegen/target.h; empty: this machine
  int threads = 1;
  bool checked = false;
  bool light = false;
};

bool is_gpu(const Options& options) { return options.target.starts_with("sm_"); }

// A preset describes the same machine on every host.
plan::Machine machine_of(const Options& options) {
  if (options.target.empty()) return describe_machine("", options.threads);
  plan::Machine machine;
  machine.threads = options.threads;
  if (is_gpu(options)) {
    machine.vector_bytes = 16;
    machine.backend = Backend::Gpu;
    machine.multiprocessors = options.target == "sm_80" ? 108 : 132;
  } else {
    machine.vector_bytes = codegen::vector_bytes_of(options.target);
  }
  return machine;
}

// Walks from one stage to another and records the text of each stage.
class Walk {
 public:
  explicit Walk(const Options& options)
      : options_(options),
        from_(find_stage(options.from)),
        to_(find_stage(options.to)),
        times_(options.time_stages) {
    if (to_.stage < from_.stage) user_error(options.to, " comes before ", options.from);
    if (!from_.is_read) user_error("the text of ", options.from, " is not read back");
    request_.plan.machine = machine_of(options);
    if (is_gpu(options)) request_.target = target();
    request_.schedule = options.schedule;
    request_.checked = options.checked;
    request_.verify_passes = true;
  }

  std::string run(std::string_view text) {
    std::string result = walk(text);
    if (options_.time_stages) std::cerr << "stages: " << times_.text() << " ms\n";
    return result;
  }

 private:
  std::string walk(std::string_view text) {
    if (from_.stage <= Stage::Plan) {
      read_expr(text);
    } else if (from_.stage <= Stage::Schedule) {
      read_nests(text);
    } else {
      program_ = loop::parse_host_program(text);
      verify(program_);
      texts_[from_.stage] = loop::to_string(program_) + remarks_of(text);
    }
    if (to_.stage >= Stage::Passes && from_.stage < Stage::Passes) run_passes();
    if (to_.stage >= Stage::Llvm) return generate_code();
    return texts_[to_.stage];
  }

  StageSink sink() {
    return [this](std::string_view stage, const std::string& text) {
      const StageName& known = find_stage(stage);
      texts_[known.stage] += text;
      times_.end(known.name);
    };
  }

  // The remarks of passes, which follow the program.
  static std::string remarks_of(std::string_view text) {
    const size_t end = text.rfind("\n}\n");
    if (end == std::string_view::npos) return {};
    const std::string_view rest = text.substr(end + 3);
    return rest.starts_with("// ") ? std::string(rest) : std::string();
  }

  // The text of a plan consists of the program, the line 'plan', and the decisions.
  static constexpr std::string_view kPlanLine = "\nplan\n";

  void read_expr(std::string_view text) {
    const bool has_plan = from_.stage == Stage::Plan;
    const size_t end = has_plan ? text.find(kPlanLine) : text.size();
    if (end == std::string_view::npos)
      user_error("the program must end with a line 'plan', followed by the decisions");
    ExprFile file = parse_expr_file(text.substr(0, end));
    for (int time = 0; time < options_.gradients; ++time)
      file = parse_expr_file(gradient_file(file), expr::Writer::Compiler);
    times_.end("expr");
    texts_[Stage::Expr] = to_string(file);
    if (to_.stage == Stage::Expr) return;
    request_.plan.program = &file.program;
    request_.operands = file.operands;
    request_.plan.known_extents = file.known_extents;
    request_.plan.statistics = file.statistics;
    if (has_plan && !options_.schedule.empty())
      user_error("a plan already has schedules; edit the schedule in its text");
    if (has_plan) request_.plan.decisions = plan::parse_decisions(text, end + kPlanLine.size());
    program_ = lower_program(request_, sink()).program;
    verify(program_);
    texts_[Stage::Plan] = concat(texts_[Stage::Expr], kPlanLine.substr(1), texts_[Stage::Plan]);
  }

  void read_nests(std::string_view text) {
    schedule::NestProgram nests = schedule::parse_program(text);
    if (!options_.schedule.empty()) {
      if (nests.steps.size() > 1)
        user_error(
            "--schedule applies to a single nest; write the schedules of several nests below each "
            "nest");
      std::get<schedule::ScheduledNest>(nests.steps[0]).schedule =
          schedule::parse_schedule(options_.schedule);
    }
    if (to_.stage == Stage::Nest) {
      texts_[Stage::Nest] = schedule::to_string(nests);
      return;
    }
    program_ = lower_nests(nests, {request_.plan.machine.backend}, sink()).program;
    verify(program_);
  }

  // The program after the passes that --print-after names and the times of --time-passes go to
  // standard error, so that standard output stays the text of a stage.
  void run_passes() {
    const bool is_single = !options_.pass.empty();
    passes::PipelineOptions options{.verify = true};
    if (!is_single) options = pass_options(request_for_code());
    options.timed = options_.time_passes;
    options.after_pass = [&](std::string_view pass, const loop::HostProgram& program) {
      if (options_.print_after.contains(std::string(pass)))
        std::cerr << "// after " << pass << "\n" << loop::to_string(program);
    };
    passes::PipelineResult result =
        is_single ? passes::run_pass(options_.pass, std::move(program_), options)
                  : passes::run_passes(std::move(program_), options);
    if (options_.time_passes) std::cerr << "passes: " << result.times.text() << " ms\n";
    program_ = std::move(result.program);
    times_.end("passes");
    texts_[Stage::Passes] = loop::to_string(program_);
    if (!is_single) texts_[Stage::Passes] += as_comments(result.remarks);
  }

  CodeRequest request_for_code() const {
    CodeRequest request = code_request(request_);
    if (!options_.disabled_passes.empty())
      request.disabled_passes = passes::parse_disabled_passes(options_.disabled_passes);
    return request;
  }

  codegen::Target target() const {
    codegen::Target target = is_gpu(options_)          ? codegen::gpu_target(options_.target)
                             : options_.target.empty() ? codegen::host_target()
                                                       : codegen::host_target(options_.target);
    target.light = options_.light;
    return target;
  }

  std::string generate_code() {
    times_.skip();
    codegen::Module module = is_gpu(options_) ? codegen::emit_gpu(program_.kernels, target())
                                              : codegen::emit_cpu(program_.kernels, target());
    times_.end("emit");
    codegen::optimise(module);
    times_.end("optimise");
    if (to_.stage == Stage::Llvm) return codegen::print_llvm(module);
    std::string text = codegen::assembly(module);
    times_.end("asm");
    return text;
  }

  const Options& options_;
  const StageName& from_;
  const StageName& to_;
  CompileRequest request_;
  loop::HostProgram program_;
  std::map<Stage, std::string> texts_;
  StageTimes times_;
};

// --- the command line ---

constexpr std::string_view kUsage =
    "usage: tulle-opt --from STAGE --to STAGE [OPTION...] FILE      (FILE may be - for standard "
    "input)\n"
    "  stages: expr, plan, nest, schedule, lower (or loop), passes, llvm, asm (or ptx); llvm and "
    "asm are only printed\n"
    "  --schedule TEXT   use this schedule instead of the planned one\n"
    "  --threads N       number of threads to plan for (1)\n"
    "  --target PRESET   for a machine with sse4.2, avx2 or avx512 instead of this one, or for a "
    "GPU: sm_80, sm_90\n"
    "  --pass NAME       run only this pass\n"
    "  --disable-pass NAME   omit this pass; may be repeated\n"
    "  --print-after NAME    print the program after this pass to standard error; may be repeated\n"
    "  --time-passes     print the time of each pass to standard error\n"
    "  --time-stages     print the time of each stage to standard error\n"
    "  --gradient        derive the program first, towards all operands; twice for the second "
    "derivative\n"
    "  --checked         bounds checks in generated code\n"
    "  --light           light code, with which a GPU starts\n";

int positive(std::string_view option, const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) {
    user_error(option, " needs a positive number, found '", text, "'");
  }
  return number;
}

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
    } else if (word == "--schedule") {
      options.schedule = value();
    } else if (word == "--threads") {
      options.threads = positive(word, value());
    } else if (word == "--pass") {
      options.pass = value();
    } else if (word == "--disable-pass") {
      options.disabled_passes += concat(options.disabled_passes.empty() ? "-" : ",-", value());
    } else if (word == "--print-after") {
      options.print_after.emplace(passes::find_pass(value()).name);
    } else if (word == "--time-passes") {
      options.time_passes = true;
    } else if (word == "--target") {
      options.target = value();
    } else if (word == "--time-stages") {
      options.time_stages = true;
    } else if (word == "--gradient") {
      ++options.gradients;
    } else if (word == "--checked") {
      options.checked = true;
    } else if (word == "--light") {
      options.light = true;
    } else if (options.file.empty() && (word == "-" || !word.starts_with("-"))) {
      options.file = word;
    } else {
      user_error("unexpected ", word, "\n", kUsage);
    }
  }
  if (options.to == "ptx" && options.target.empty()) options.target = "sm_90";
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
    std::cout << tulle::Walk(options).run(tulle::read_text(options.file));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
