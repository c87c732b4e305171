// Programs: index notation, compiled and run. Also the schedules that Tulle keeps for them.
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
  // Formats of results, by name; "*" names the only result. The rules of the language choose the
  // format of a result that is not listed.
  std::map<std::string, std::string> out_formats;
  // Schedule steps as text. A step applies to the statements that have its indices, or to the
  // statement it names ("C: parallel(i)"). The planner schedules statements without steps.
  std::string schedule;
  std::string features;  // "sse4.2", "avx2" or "avx512"; empty: everything this machine supports
  bool checked = false;  // whether generated code checks array bounds
  bool tuned = true;     // whether a kept schedule applies where `schedule` is empty
  // Einsum only: dimensions of size 1. A dimension that shares its letter with a larger one is
  // broadcast.
  std::vector<OperandDimension> ones;
  // Einsum only: "mean", "amax", "amin" or "prod" over the entries of sparse operands; empty: sum.
  std::string reduce;
};

// Names in index notation, known before operands are given.
struct NotationInfo {
  std::vector<std::string> operands;  // in order of first use
  std::vector<std::string> assigned;  // results and intermediates, in order
  // The operands that the schedule decomposes, each with its composite format.
  std::map<std::string, std::string> decomposed;
};
// Throws UserError with a caret where a statement is wrong, or where a step of the schedule is
// wrong or applies to no statement.
TULLE_API NotationInfo describe_notation(std::string_view text, std::string_view schedule = {});

// A schedule to try, as text.
struct ScheduleCandidate {
  std::string statement;  // the tensor it assigns; set where the program has several statements
  std::string schedule;
  double seconds = 0;  // estimated
};

// The measured times of a program with a schedule.
struct MeasuredSchedule {
  std::string schedule;  // as in ProgramOptions; empty: the planner's schedule is the fastest
  double seconds = 0;
  double default_seconds = 0;  // with the planner's schedule
  std::string report;          // about the other schedules tried; stored, never interpreted
};

// Statements for operands of given formats. A program compiles kernels when it first runs with
// operands of a certain size. Any number of threads may run one program at the same time.
class TULLE_API Program {
 public:
  // Parses and resolves index notation, for instance "C[i,k] = A[i,j] * B[j,k]". Throws UserError
  // with a caret where it is wrong.
  static std::shared_ptr<const Program> from_notation(std::string_view text,
                                                      const std::vector<TensorSpec>& operands,
                                                      const ProgramOptions& options = {});
  // The same for an equation such as "ij,jk->ik" over the operands in order. The result is called
  // `out`.
  static std::shared_ptr<const Program> from_einsum(std::string_view equation,
                                                    const std::vector<TensorSpec>& operands,
                                                    const ProgramOptions& options = {});

  virtual ~Program() = default;
  // The operands in the order in which run() takes them, which is the order given to the factory.
  virtual const std::vector<TensorSpec>& operands() const = 0;
  virtual const std::vector<TensorSpec>& results() const = 0;
  // The bytes of machine code compiled so far. The code is unloaded with the program.
  virtual int64_t code_bytes() const = 0;

  // Checks sizes and array lengths (UserError), then runs. It trusts the contents of structure
  // arrays; validate() checks them.
  std::vector<ResultTensor> run(const std::vector<TensorView>& operands, Memory& memory,
                                const RunOptions& options = {}) const {
    std::vector<ResultTensor> results;
    run_into(operands, memory, options, results);
    return results;
  }
  // The same, but reuses the storage of `results`. A warm call then allocates only the arrays of
  // its results.
  virtual void run_into(const std::vector<TensorView>& operands, Memory& memory,
                        const RunOptions& options, std::vector<ResultTensor>& results) const = 0;

  // The output of every compiler stage for these operands and options, each under the name of the
  // stage's folder.
  virtual std::string explain(const std::vector<TensorView>& operands,
                              const RunOptions& options = {}) const = 0;

  // The schedules worth trying for operands like these. For each statement, the planned schedule
  // comes first, the others follow by estimated time. If the program has a schedule, its estimate.
  virtual std::vector<ScheduleCandidate> candidates(const std::vector<TensorView>& operands,
                                                    const RunOptions& options = {}) const = 0;
  // Keeps a schedule: programs that compute the same with operands like these use it unless they
  // are given another. This holds in all processes that share the cache directory.
  virtual void keep_schedule(const std::vector<TensorView>& operands, const RunOptions& options,
                             const MeasuredSchedule& measured) const = 0;
};

// Waits until the background has replaced all quickly generated GPU kernels by optimised ones. Call
// it before measuring.
TULLE_API void finish_compiling();

// A schedule stored by keep_schedule(). Names of tensors and indices are replaced by numbers.
struct TunedPlan {
  std::string statements, tensors, operands, machine;  // the problem it applies to
  std::string schedule;
  double seconds = 0, default_seconds = 0;
  std::string report;
  int64_t made = 0;  // seconds since 1970
};
// The stored plans, newest first.
TULLE_API std::vector<TunedPlan> tuned_plans();
// Removes all stored plans, in this process and on disk; returns their number.
TULLE_API int64_t forget_tuned_plans();
// The directory of stored kernels and plans; empty if nothing is stored on disk.
TULLE_API std::string cache_directory();

// The machine code loaded in this process. Programs with equal kernels share them.
struct LoadedCode {
  int64_t objects = 0;
  int64_t bytes = 0;
};
TULLE_API LoadedCode loaded_code();

}  // namespace tulle
