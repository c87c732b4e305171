// The public Program: statements resolved once, kernels compiled for the sizes that turn up.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <unistd.h>

#include "caller.h"
#include "check_lengths.h"
#include "codegen/target.h"
#include "compile.h"
#include "expr/extents.h"
#include "machine.h"
#include "out_formats.h"
#include "runtime/heap.h"
#include "support/check.h"
#include "support/no_fork.h"
#include "tulle/tulle.h"
#include "variant.h"

namespace tulle {

namespace {

constexpr int64_t kLargestSpecialised = 1024;  // extents above are runtime values
constexpr int kMostVariants = 256;             // after that many the kernel for any size is used
constexpr uint64_t kForAll = 1;                // the signature of that kernel

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class ResolvedExpression final : public Program {
 public:
  ResolvedExpression(const expr::Program& parsed, const std::vector<TensorSpec>& operands,
                     const ProgramOptions& options)
      : operands_(operands), options_(options) {
    std::map<std::string, expr::TensorType> types;
    for (const TensorSpec& spec : operands_) {
      if (types.contains(spec.name)) user_error("operand '", spec.name, "' is given twice");
      types[spec.name] = {spec.type, spec.index_type, Format::parse(spec.format, spec.rank)};
    }
    expr::ResolveOptions resolving;
    resolving.out_formats = chosen_formats(parsed, options);
    for (const TensorSpec& spec : operands_) {
      formats_.push_back(types.at(spec.name).format);
      is_dense_.push_back(formats_.back().is_dense());
    }
    program_ = plan::with_unique_indices(expr::resolve(parsed, types, resolving));
    check_operands_are_read();
    collect_indices();
    for (const std::string& index : plan::specialisable_indices(program_.program)) {
      const auto found = std::find(indices_.begin(), indices_.end(), index);
      if (found != indices_.end())
        specialisable_.push_back(static_cast<int>(found - indices_.begin()));
    }
    describe_results();
  }

  ~ResolvedExpression() override {
    for (const auto& list : variants_) {
      for (const Variant* variant = list.load(); variant;) {
        const Variant* next = variant->next;
        delete variant;
        variant = next;
      }
    }
  }

  const std::vector<TensorSpec>& operands() const override { return operands_; }
  const std::vector<TensorSpec>& results() const override { return results_; }

  void run_into(const std::vector<TensorView>& views, Memory& memory, const RunOptions& options,
                std::vector<ResultTensor>& results) const override {
    // Kept from call to call; running is not re-entered on one thread while they are in use.
    struct Scratch {
      std::vector<int64_t> extents, scalars;
      std::vector<void*> buffers, handles;
      std::vector<runtime::Result> found;
    };
    thread_local Scratch scratch;
    auto& [extents, scalars, buffers, handles, found] = scratch;
    read_extents(views, extents);
    check_positions_fit(views);
    const Variant& variant = find_variant(views, extents, options);
    const Executable& executable = variant.executable;

    variant.read_arguments(views, extents, options.threads, buffers, scalars);
    handles.assign(executable.program->result_count(), nullptr);
    found.assign(executable.program->result_count(), {});
    ResultMemory result_memory(memory, executable.results, handles);
    CallerParallelism parallelism(options);
    executable.program->run(buffers, scalars, result_memory, parallelism, found);
    collect(variant, views, found, handles, results);
  }

  std::string explain(const std::vector<TensorView>& views,
                      const RunOptions& options) const override {
    std::vector<int64_t> extents;
    read_extents(views, extents);
    std::string text =
        concat("== expr ==\n", expr::to_string(expr::Program{program_.program.statements}));
    for (const auto& [name, type] : program_.program.tensors) {
      text += concat("  ", name, ": ", name_of(type.type), ", ", type.format.name(), "\n");
    }
    tulle::compile(make_request(views, extents, false, options),
                   [&](std::string_view stage, const std::string& stage_text) {
                     text += concat("\n== ", stage, " ==\n", stage_text);
                   });
    return text;
  }

 private:
  void check_operands_are_read() const {
    const auto& read = program_.program.operands;
    for (const TensorSpec& spec : operands_) {
      if (std::find(read.begin(), read.end(), spec.name) != read.end()) continue;
      user_error("'", spec.name, "' is given, but no statement reads it; ",
                 read.empty() ? "none reads any operand" : concat("they read ", joined(read)),
                 ". Leave it out, or use it.");
    }
  }

  void collect_indices() {
    for (const auto& [index, uses] : program_.extents) {
      indices_.push_back(index);
      std::vector<OperandDimension> dimensions;
      for (const expr::ExtentUse& use : uses) {
        dimensions.push_back({operand_number(use.tensor), use.dimension});
      }
      sources_.push_back(std::move(dimensions));
    }
  }

  int operand_number(const std::string& name) const {
    for (size_t o = 0; o < operands_.size(); ++o) {
      if (operands_[o].name == name) return static_cast<int>(o);
    }
    internal_error("operand ", name);
  }

  void describe_results() {
    for (const std::string& name : program_.program.results) {
      const expr::TensorType& type = program_.program.tensors.at(name);
      TensorSpec spec{name, type.format.name(), type.type, type.index_type, type.format.rank(), {}};
      for (const expr::Statement& statement : program_.program.statements) {
        if (statement.tensor != name) continue;
        for (const std::string& index : statement.indices) {
          const auto found = std::find(indices_.begin(), indices_.end(), index);
          TULLE_CHECK(found != indices_.end(), "the extent of ", index);
          spec.sizes_from.push_back(
              sources_[static_cast<size_t>(found - indices_.begin())].front());
        }
      }
      results_.push_back(std::move(spec));
      result_formats_.push_back(type.format);
    }
  }

  void read_extents(const std::vector<TensorView>& views, std::vector<int64_t>& extents) const {
    if (views.size() != operands_.size()) {
      user_error("the program takes ", operands_.size(), " operands, ", views.size(),
                 " were given");
    }
    for (size_t o = 0; o < views.size(); ++o) check_lengths(operands_[o], formats_[o], views[o]);
    extents.clear();
    for (size_t i = 0; i < indices_.size(); ++i) {
      const OperandDimension& first = sources_[i].front();
      const int64_t extent = size_of(views, first);
      for (const OperandDimension& other : sources_[i]) {
        if (size_of(views, other) != extent) fail_extents(views);
      }
      extents.push_back(extent);
    }
  }

  // Of an index: raises the error that points at its uses.
  [[noreturn]] void fail_extents(const std::vector<TensorView>& views) const {
    expr::Sizes sizes;
    for (size_t o = 0; o < views.size(); ++o) sizes[operands_[o].name] = views[o].sizes;
    expr::index_extents(program_.program, sizes);
    internal_error("extents that differ");
  }

  // A sparse result has a position for every coordinate of its leading dense levels, stored or not.
  void check_positions_fit(const std::vector<TensorView>& views) const {
    static const int64_t memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    for (size_t r = 0; r < results_.size(); ++r) {
      if (result_formats_[r].is_dense()) continue;
      int64_t bytes = tulle::size_of(results_[r].index_type);
      for (const Level& level : result_formats_[r].levels()) {
        if (!is_full(level.kind)) break;
        const auto dimension = static_cast<size_t>(level.expr.dimension);
        const int64_t extent = level.expr.extent(size_of(views, results_[r].sizes_from[dimension]));
        if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > memory) {
          user_error(
              "the result ", results_[r].name, " in format ", results_[r].format,
              " would need more memory for the positions of its dense levels than this machine has;"
              " ask for a format that stores only what is there, such as dcsr, csf or coo");
        }
      }
    }
  }

  static int64_t size_of(const std::vector<TensorView>& views, const OperandDimension& dimension) {
    return views[static_cast<size_t>(dimension.operand)]
        .sizes[static_cast<size_t>(dimension.dimension)];
  }

  // The share of distinct coordinates of an operand; sampled once for an array as long as it stays
  // in use.
  double distinct_share(size_t operand, const TensorView& view) const {
    const ArraySpan* coordinates = nullptr;
    for (const LevelSpan& level : view.levels) {
      if (level.crd.data) coordinates = &level.crd;
    }
    if (!coordinates) return 1;
    struct Sampled {
      const void* data = nullptr;
      int64_t length = 0;
      double share = 1;
    };
    thread_local std::array<Sampled, 64> cache;
    Sampled& slot = cache[(reinterpret_cast<uintptr_t>(coordinates->data) >> 6) % cache.size()];
    if (slot.data != coordinates->data || slot.length != coordinates->length) {
      slot = {coordinates->data, coordinates->length,
              plan::sample_distinct_share(coordinates->data, coordinates->length,
                                          operands_[operand].index_type)};
    }
    return slot.share;
  }

  // Equal for operands that one variant serves.
  uint64_t signature(const std::vector<TensorView>& views, const std::vector<int64_t>& extents,
                     int threads) const {
    uint64_t hash = static_cast<uint64_t>(threads);
    auto mix = [&](uint64_t value) {
      hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
    };
    for (const int64_t extent : extents) mix(magnitude(extent));
    for (const int index : specialisable_) {
      const int64_t extent = extents[static_cast<size_t>(index)];
      mix(static_cast<uint64_t>(extent <= kLargestSpecialised ? extent : -1));
    }
    for (size_t o = 0; o < views.size(); ++o) {
      if (is_dense_[o]) continue;
      mix(magnitude(views[o].values.length));
      mix(distinct_share(o, views[o]) < plan::kScattered ? 1 : 2);
    }
    return hash | kForAll << 1;  // never that of the variant for everything
  }

  // In powers of four.
  static uint64_t magnitude(int64_t value) {
    return static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(value)) / 2);
  }

  std::atomic<const Variant*>& list_for(uint64_t wanted) const {
    return variants_[(wanted >> 32) % variants_.size()];
  }

  // The variant of that signature whose guards hold for these extents.
  const Variant* look_up(uint64_t wanted, const std::vector<int64_t>& extents) const {
    const Variant* variant = list_for(wanted).load(std::memory_order_acquire);
    while (variant && !(variant->signature == wanted && variant->serves(extents))) {
      variant = variant->next;
    }
    return variant;
  }

  const Variant& find_variant(const std::vector<TensorView>& views,
                              const std::vector<int64_t>& extents,
                              const RunOptions& options) const {
    uint64_t wanted = signature(views, extents, options.threads);
    if (const Variant* found = look_up(wanted, extents)) return *found;
    if (variant_count_ >= kMostVariants) {
      if (const Variant* found = look_up(kForAll, extents)) return *found;
    }
    const NoFork no_fork;
    const std::lock_guard lock(compiling_);
    const bool any = variant_count_ >= kMostVariants;
    if (any) wanted = kForAll;
    if (const Variant* found = look_up(wanted, extents)) return *found;
    auto variant = std::make_unique<Variant>();
    variant->signature = wanted;
    const CompileRequest request = make_request(views, extents, any, options);
    for (size_t i = 0; i < indices_.size(); ++i) {
      const auto known = request.known_extents.find(indices_[i]);
      if (known != request.known_extents.end()) variant->guards.push_back({i, known->second});
    }
    variant->executable = tulle::compile(request);
    variant->bind(operands_, indices_, program_.program);
    std::atomic<const Variant*>& list = list_for(wanted);
    variant->next = list.load(std::memory_order_relaxed);
    list.store(variant.get(), std::memory_order_release);
    ++variant_count_;
    return *variant.release();
  }

  CompileRequest make_request(const std::vector<TensorView>& views,
                              const std::vector<int64_t>& extents, bool any,
                              const RunOptions& options) const {
    CompileRequest request;
    request.program = &program_;
    for (size_t o = 0; o < operands_.size(); ++o) {
      request.operands.push_back(operands_[o].name);
      request.statistics[operands_[o].name] = {views[o].sizes, views[o].values.length,
                                               distinct_share(o, views[o])};
    }
    for (const int index : specialisable_) {
      const int64_t extent = extents[static_cast<size_t>(index)];
      if (!any && extent <= kLargestSpecialised)
        request.known_extents[indices_[static_cast<size_t>(index)]] = extent;
    }
    request.machine = describe_machine(options_.features, options.threads);
    request.target = options_.features.empty() ? codegen::host_target()
                                               : codegen::host_target(options_.features);
    request.schedule = options_.schedule;
    request.checked = options_.checked;
    return request;
  }

  void collect(const Variant& variant, const std::vector<TensorView>& views,
               const std::vector<runtime::Result>& found, const std::vector<void*>& handles,
               std::vector<ResultTensor>& results) const {
    results.resize(results_.size());
    for (size_t r = 0; r < results.size(); ++r) {
      const ResultLayout& layout = variant.executable.results[r];
      const TensorSpec& spec = results_[r];
      ResultTensor& result = results[r];
      result.sizes.clear();
      for (const OperandDimension& source : spec.sizes_from) {
        result.sizes.push_back(size_of(views, source));
      }
      auto array = [&](int at, DType type) {
        if (at < 0) return ResultArray{};
        const auto number = static_cast<size_t>(at);
        return ResultArray{found[number].data, found[number].elements, type, handles[number], -1};
      };
      result.values = array(layout.values, spec.type);
      result.pos.clear();
      result.crd.clear();
      const int shared = layout.shared_operand.empty() ? -1 : operand_number(layout.shared_operand);
      for (size_t l = 0; l < layout.pos.size(); ++l) {
        result.pos.push_back(array(layout.pos[l], spec.index_type));
        result.crd.push_back(array(layout.crd[l], spec.index_type));
        if (shared < 0) continue;
        const LevelSpan& level = views[static_cast<size_t>(shared)].levels[l];
        result.pos[l] = borrowed(level.pos, spec.index_type, shared);
        result.crd[l] = borrowed(level.crd, spec.index_type, shared);
      }
    }
  }

  // An operand's own structure array as part of a result.
  static ResultArray borrowed(const ArraySpan& span, DType type, int operand) {
    if (span.length == 0 && !span.data) return {};
    return {const_cast<void*>(span.data), span.length, type, nullptr,
            operand};  // NOLINT: read only
  }

  std::vector<TensorSpec> operands_, results_;
  std::vector<Format> formats_;  // of operands
  std::vector<Format> result_formats_;
  std::vector<bool> is_dense_;
  ProgramOptions options_;
  plan::UniqueProgram program_;
  std::vector<std::string> indices_;                    // of the whole program
  std::vector<std::vector<OperandDimension>> sources_;  // where the extent of each is read
  std::vector<int> specialisable_;                      // numbers of indices
  mutable std::array<std::atomic<const Variant*>, 64> variants_{};  // lists that only grow
  mutable std::mutex compiling_;                                    // taken inside NoFork
  mutable std::atomic<int> variant_count_ = 0;
};

}  // namespace

std::shared_ptr<const Program> Program::compile(std::string_view text,
                                                const std::vector<TensorSpec>& operands,
                                                const ProgramOptions& options) {
  return std::make_shared<ResolvedExpression>(expr::parse_program(text), operands, options);
}

std::shared_ptr<const Program> Program::einsum(std::string_view equation,
                                               const std::vector<TensorSpec>& operands,
                                               const ProgramOptions& options) {
  std::vector<std::string> names;
  std::vector<int> ranks;
  for (const TensorSpec& spec : operands) {
    names.push_back(spec.name);
    ranks.push_back(spec.rank);
  }
  return std::make_shared<ResolvedExpression>(expr::parse_einsum(equation, names, ranks, "out"),
                                              operands, options);
}

FormatInfo describe_format(std::string_view text, int rank) {
  const Format format = Format::parse(text, rank);
  FormatInfo info{format.to_string(), format.name(), {}};
  for (const Level& level : format.levels()) {
    const char part = level.expr.part == LevelExpr::Part::Whole      ? 'w'
                      : level.expr.part == LevelExpr::Part::Quotient ? 'q'
                                                                     : 'r';
    info.levels.push_back({stores_positions(level.kind), stores_coordinates(level.kind),
                           is_full(level.kind), level.expr.dimension, part, level.expr.divisor});
  }
  return info;
}

void* allocate_kept(int64_t bytes) noexcept { return runtime::heap_allocate(bytes); }
void release_kept(void* memory, int64_t bytes) noexcept { runtime::heap_release(memory, bytes); }

}  // namespace tulle
