// Statements that are compiled and run, and the schedules that are kept for them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tulle/export.h"
#include "tulle/resources.h"
#include "tulle/tensor.h"

namespace tulle {

struct ProgramOptions {
  // By name of the result, "*" for the only one; else by the rules of the language.
  std::map<std::string, std::string> out_formats;
  // Text form. A step is for the statements that have its indices, or for the one that it names,
  // "C: parallel(i)"; statements without steps are planned.
  std::string schedule;
  std::string features;  // "sse4.2", "avx2" or "avx512"; empty: all this machine has
  bool checked = false;  // bounds checks in generated code
  bool tuned = true;     // where no schedule is given, one that was kept for such operands
  // Of an einsum: dimensions of size 1. One that shares its letter with a larger dimension is
  // stretched to that.
  std::vector<OperandDimension> ones;
  // Of an einsum: "mean", "amax", "amin" or "prod" over the entries of sparse operands; empty: sum.
  std::string reduce;
};

// What can be told of statements of index notation without operands.
struct NotationInfo {
  std::vector<std::string> operands;  // in order of first use
  std::vector<std::string> assigned;  // results and intermediates, in order
  // The operands that the schedule takes apart, and the composite format of each.
  std::map<std::string, std::string> decomposed;
};
// Raises UserError with a caret where the statements are wrong, or where a step of the schedule is
// wrong or for none of them.
TULLE_API NotationInfo describe_notation(std::string_view text, std::string_view schedule = {});

// A schedule that could be tried, in text form.
struct ScheduleCandidate {
  std::string statement;  // the tensor that it is for, where the program has several statements
  std::string schedule;
  double seconds = 0;  // estimated
};

// What was found by measuring a program with a schedule.
struct MeasuredSchedule {
  std::string schedule;  // as ProgramOptions has it; empty: the planned one is best
  double seconds = 0;
  double default_seconds = 0;  // with the planned one
  std::string report;          // of whatever else was tried; kept, not read
};

// Statements compiled for operands of given formats; kernels for particular sizes are added as they
// are met. Any number of threads may run it at once.
class TULLE_API Program {
 public:
  // Index notation, for instance "C[i,k] = A[i,j] * B[j,k]". Raises UserError with a caret where it
  // is wrong.
  static std::shared_ptr<const Program> from_notation(std::string_view text,
                                                      const std::vector<TensorSpec>& operands,
                                                      const ProgramOptions& options = {});
  // "ij,jk->ik" over the operands in order; the result is called `out`.
  static std::shared_ptr<const Program> from_einsum(std::string_view equation,
                                                    const std::vector<TensorSpec>& operands,
                                                    const ProgramOptions& options = {});

  virtual ~Program() = default;
  // The operands in the order that run() takes them (that of `operands`).
  virtual const std::vector<TensorSpec>& operands() const = 0;
  virtual const std::vector<TensorSpec>& results() const = 0;
  // The size of the machine code compiled for it so far. It is unloaded with the program.
  virtual int64_t code_bytes() const = 0;

  // Checks sizes and lengths of arrays (UserError) and runs. What structure arrays hold is taken to
  // be valid: see validate().
  std::vector<ResultTensor> run(const std::vector<TensorView>& operands, Memory& memory,
                                const RunOptions& options = {}) const {
    std::vector<ResultTensor> results;
    run_into(operands, memory, options, results);
    return results;
  }
  // The same into `results`, whose storage is used again: a warm call then allocates its results
  // and nothing else.
  virtual void run_into(const std::vector<TensorView>& operands, Memory& memory,
                        const RunOptions& options, std::vector<ResultTensor>& results) const = 0;

  // Every stage of the walk for operands of these sizes and a run with these options, each under
  // its folder's name.
  virtual std::string explain(const std::vector<TensorView>& operands,
                              const RunOptions& options = {}) const = 0;

  // The schedules worth trying for operands like these: of each statement the planned one first,
  // then by estimated time. Of a program with a schedule: its estimate.
  virtual std::vector<ScheduleCandidate> candidates(const std::vector<TensorView>& operands,
                                                    const RunOptions& options = {}) const = 0;
  // From now on, programs that compute the same with operands like these, here and in other
  // processes that use the same cache, run with this schedule unless they are given one.
  virtual void keep_schedule(const std::vector<TensorView>& operands, const RunOptions& options,
                             const MeasuredSchedule& measured) const = 0;
};

// Kernels of a GPU begin as code that is there soon, unless there is better from an earlier time;
// good code is made in the background and takes its place. Returns when all of it has: for whoever
// measures.
TULLE_API void finish_compiling();

// A plan kept by keep_schedule: for what (names are numbered), and what was measured.
struct TunedPlan {
  std::string statements, tensors, operands, machine;
  std::string schedule;
  double seconds = 0, default_seconds = 0;
  std::string report;
  int64_t made = 0;  // seconds since 1970
};
// Those on disk, the latest first.
TULLE_API std::vector<TunedPlan> tuned_plans();
// Removes them all, here and on disk; how many were there.
TULLE_API int64_t forget_tuned_plans();
// Where kernels and plans are kept on disk; empty: nowhere.
TULLE_API std::string cache_directory();

// The machine code that the programs of this process keep loaded; programs whose kernels are the
// same share it.
struct LoadedCode {
  int64_t objects = 0;
  int64_t bytes = 0;
};
TULLE_API LoadedCode loaded_code();

}  // namespace tulle
