// The table of passes between lowering and code generation, in the order in which they run.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/host.h"
#include "support/backend.h"
#include "support/log.h"
#include "support/remarks.h"

namespace tulle::passes {

struct PipelineOptions {
  Backend backend = Backend::Cpu;
  bool masks = true;                       // the target has masked loads and stores
  bool light = false;                      // generate barely optimised code quickly
  bool checked = false;                    // insert bounds checks before every access
  bool verify = false;                     // verify the program after every pass
  bool timed = false;                      // measure the time of every pass
  std::vector<std::string> disabled = {};  // names of passes that do not run
  // Called after each pass with its name and the program.
  std::function<void(std::string_view pass, const loop::HostProgram&)> after_pass = {};
};

enum class PassDevices : uint8_t { Both, Gpu };

// An entry of the table.
struct Pass {
  using Function = loop::HostProgram (*)(loop::HostProgram, const PipelineOptions&, Remarks&);

  std::string_view name;
  Function function;
  PassDevices devices = PassDevices::Both;
  bool in_light_code = true;  // also runs for light code
  bool only_checked = false;  // runs in checked mode only
  bool is_required = false;   // the pass cannot be disabled: later stages rely on it
};

// All passes in run order. A pass may have several entries.
std::span<const Pass> pass_table();

// The first entry with that name. Raises a UserError that lists all passes if there is none.
const Pass& find_pass(std::string_view name);

struct PipelineResult {
  loop::HostProgram program;
  Remarks remarks;
  StageTimes times;  // of each pass, in milliseconds; empty unless options.timed
};

// Replaces the steps that need kernels of their own on a GPU, scans and sorts. Afterwards the other
// passes can run on each kernel separately.
loop::HostProgram expand_steps(loop::HostProgram program);

// Runs the passes that the options select on the whole program. Raises a UserError if the options
// disable an unknown or a required pass.
PipelineResult run_passes(loop::HostProgram program, const PipelineOptions& options = {});

// Runs only the pass of that name, also where `options` would skip it. Raises the UserError of
// find_pass if the name is unknown.
PipelineResult run_pass(std::string_view name, loop::HostProgram program,
                        const PipelineOptions& options = {});

// Parses the names of passes to disable, written as in "-unroll_loops,-carry_loads". The result is
// sorted and free of duplicates. Raises a UserError that lists the passes that can be disabled if
// the text names any other pass.
std::vector<std::string> parse_disabled_passes(std::string_view text);

// The passes that the environment variable TULLE_PASSES disables, in the syntax above.
const std::vector<std::string>& passes_disabled_by_environment();

}  // namespace tulle::passes
