// The C++ interface of Tulle: compile index notation for given formats, run it on arrays that the
// caller owns.
//
// No PyTorch and no Python here. Memory and threads come from the caller; defaults are provided.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tulle/dtype.h"
#include "tulle/error.h"
#include "tulle/export.h"
#include "tulle/version.h"

namespace tulle {

// A dimension of one of a program's operands, counted in the order that run() takes them.
struct OperandDimension {
  int operand = 0;
  int dimension = 0;
};

// What is known of a tensor when a program is compiled.
struct TensorSpec {
  std::string name;
  // A name (csr, bsr(16,16), ...), the long form "(i,j) -> (i: dense, j: compressed)", or of an
  // operand a composite (hyb(2,3), "{ rows(nnz<=4): ell(4); rest: csr }").
  std::string format = "dense";
  DType type = DType::Float32;
  DType index_type = DType::Int32;
  int rank = 0;
  // Of a result: the operand's dimension that each of its sizes comes from, filled by compile(); of
  // an operand: not read.
  std::vector<OperandDimension> sizes_from;
  // Of a sparse operand: no row of it has more entries than this, a row being what one position of
  // its last compressed level holds; 0: not known. A hint for plans, which hold for any operand.
  int64_t longest_row = 0;
};

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

// An array of a caller's tensor.
struct ArraySpan {
  const void* data = nullptr;
  int64_t length = 0;  // in elements
};

struct LevelSpan {
  ArraySpan pos;  // empty where the level's kind stores none
  ArraySpan crd;  // of a bitmap: a byte a slot
};

struct TensorView {
  std::vector<int64_t> sizes;     // by dimension
  std::vector<LevelSpan> levels;  // outermost first
  ArraySpan values;
  // Of a composite format: levels and values of its parts, in their order, in place of its own; all
  // have its sizes.
  std::vector<TensorView> parts = {};
  // A number that no other structure has had in this process (new_structure), under which what was
  // made of these levels may be kept for later runs; 0: nothing is kept. Whoever gives it changes
  // the levels no more, and says when they are gone (forget_structure).
  uint64_t structure = 0;
};

TULLE_API uint64_t new_structure() noexcept;
TULLE_API void forget_structure(uint64_t structure) noexcept;

// What is kept for a structure.
struct KeptData {
  std::string what;
  int64_t bytes = 0;
};
TULLE_API std::vector<KeptData> kept_data(uint64_t structure);

// An array of a result, allocated by Memory.
struct ResultArray {
  void* data = nullptr;
  int64_t length = 0;
  DType type = DType::Float32;
  void* handle = nullptr;   // what Memory gave for it; null for an array shared with an operand
  int shared_operand = -1;  // the operand whose structure array this is, else -1
};

struct ResultTensor {
  std::vector<int64_t> sizes;
  std::vector<ResultArray> pos;  // by level; no data where the level's kind stores none
  std::vector<ResultArray> crd;
  ResultArray values;
};

// Where a program runs and where the arrays of its operands and results lie. Programs, formats and
// statements are the same everywhere.
struct Device {
  enum class Kind : uint8_t { Cpu, Cuda };
  Kind kind = Kind::Cpu;
  int ordinal = 0;  // of a GPU

  bool operator==(const Device&) const = default;
};

// Where the arrays of results come from. The caller owns what allocate() gave, also when running
// fails.
class Memory {
 public:
  virtual ~Memory() = default;
  struct Block {
    void* data = nullptr;
    void* handle = nullptr;
  };
  // At least 64-byte aligned, or data == null if there is none.
  virtual Block allocate(DType type, int64_t length, bool zeroed) = 0;
  // The same for the values of the result of that number. A caller that has a place for them gives
  // it here; it must overlap nothing else that the program uses.
  virtual Block allocate_values(size_t result, DType type, int64_t length, bool zeroed) {
    (void)result;
    return allocate(type, length, zeroed);
  }
  // On a GPU, where `zeroed` is never asked for, temporaries come from the caller too: memory in
  // the order of the run's stream, given back as soon as all that uses it is on the stream.
  virtual Block allocate_temporary(int64_t bytes) { return allocate(DType::Bool, bytes, false); }
  virtual void release_temporary(const Block& block) { (void)block; }
  // Lets a temporary live on after the run, and after this object, until the function is called;
  // null where that cannot be: it is released with the others then.
  virtual std::function<void()> keep_temporary(const Block& block) {
    (void)block;
    return nullptr;
  }
};

// Memory for results from blocks that are kept when given back, since fresh pages cost more than
// filling them: 64-byte aligned, null if there is none. At most half a GiB is kept.
TULLE_API void* allocate_kept(int64_t bytes) noexcept;
// Takes back what allocate_kept gave; `bytes` as asked for then.
TULLE_API void release_kept(void* memory, int64_t bytes) noexcept;

// The machine code that the programs of this process keep loaded; programs whose kernels are the
// same share it.
struct LoadedCode {
  int64_t objects = 0;
  int64_t bytes = 0;
};
TULLE_API LoadedCode loaded_code();

// Runs body(begin, end) over pieces of [0, count), some at the same time, and returns when all are
// done.
using ParallelFor =
    std::function<void(int64_t count, const std::function<void(int64_t, int64_t)>& body)>;

struct RunOptions {
  int threads = 1;           // that run kernels, and compile them for whatever device
  ParallelFor parallel_for;  // null: a pool of Tulle's own
  // Where the operands lie. On a GPU their arrays begin at multiples of 16 bytes, Memory gives
  // device memory, and a run returns when its work is on the stream (a CUstream; null is the
  // default one): it waits for the GPU only to read the size of a result that depends on the data.
  // All else can be captured in a CUDA graph.
  Device device;
  void* stream = nullptr;
  // On a GPU: the same operands give the same bits, so that no sums are added up by atomics.
  bool deterministic = false;
};

// Device memory from the driver, in the order of a stream; freed with this object.
class TULLE_API CudaMemory final : public Memory {
 public:
  CudaMemory(Device device, void* stream);
  ~CudaMemory() override;
  Block allocate(DType type, int64_t length, bool zeroed) override;
  void release_temporary(const Block& block) override;
  // Between host and device; both wait for the stream.
  void copy_to_device(void* to, const void* from, int64_t bytes);
  void copy_to_host(void* to, const void* from, int64_t bytes);

 private:
  Device device_;
  void* stream_;
  std::vector<void*> blocks_;
};

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
  static std::shared_ptr<const Program> compile(std::string_view text,
                                                const std::vector<TensorSpec>& operands,
                                                const ProgramOptions& options = {});
  // "ij,jk->ik" over the operands in order; the result is called `out`.
  static std::shared_ptr<const Program> einsum(std::string_view equation,
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

// What can be told of statements of index notation without operands.
struct NotationInfo {
  std::vector<std::string> operands;  // in order of first use
  std::vector<std::string> assigned;  // results and intermediates, in order
};
// Raises UserError with a caret where the statements are wrong, or where a step of the schedule is
// wrong or for none of them.
TULLE_API NotationInfo describe_notation(std::string_view text, std::string_view schedule = {});

// The format's text in its long form and its shortest form, and which arrays its levels store.
struct FormatInfo {
  std::string text;
  std::string name;
  struct Level {
    bool pos = false, crd = false;  // positions, coordinates
    bool bits = false;    // in place of coordinates a byte a slot: whether it holds an entry
    bool full = false;    // it holds every coordinate
    bool direct = false;  // a coordinate has the slot parent * extent + coordinate
    bool unused = false;  // slots whose coordinate is -1 hold nothing
    int64_t width = 0;    // slots of each parent, where all have the same number
    int dimension = 0;
    // 'w' the whole coordinate, 'q' its quotient, 'r' its remainder by `divisor`, 'd' its
    // difference to that of dimension `second`
    char part = 'w';
    int64_t divisor = 1;
    int second = -1;
  };
  std::vector<Level> levels;
  struct Part {
    std::string selector;  // for people
    std::string format;
  };
  std::vector<Part> parts;  // of a composite format, which has no levels of its own
  std::string sorted = {};  // of a composite format: the format in which select_parts takes entries
};
TULLE_API FormatInfo describe_format(std::string_view format, int rank);

// Which entries of a tensor belong to which part of a composite format. The tensor is given in the
// format that FormatInfo::sorted says. Writes the numbers of its entries into `order`, part by part
// and in their order within each, and how many each part has into `counts`.
TULLE_API void select_parts(std::string_view format, const TensorSpec& spec, const TensorView& view,
                            const RunOptions& options, int64_t* order, int64_t* counts);

// The parts of a tensor in a composite format, each in its own. The arrays of the parts come from
// `memory`. On the CPU only.
TULLE_API std::vector<ResultTensor> decompose(std::string_view format, const TensorSpec& spec,
                                              const TensorView& view, Memory& memory,
                                              const RunOptions& options = {});

// Checks positions and coordinates in O(entries), in host memory and with the threads of `options`;
// raises UserError that names the tensor, the place and the remedy.
TULLE_API void validate(const TensorSpec& spec, const TensorView& view,
                        const RunOptions& options = {});
// The same for structure that may still have to be sorted: whether coordinates are ordered and
// unique as the format says. Where they are not, validate it in a format that is 'unordered' and
// 'nonunique', and convert.
TULLE_API bool is_in_order(const TensorSpec& spec, const TensorView& view,
                           const RunOptions& options = {});

}  // namespace tulle
