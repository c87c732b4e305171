// The public Program: statements resolved once, kernels compiled for the sizes that turn up.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>

#include "codegen/target.h"
#include "compile.h"
#include "format/pattern.h"
#include "lower/storage.h"
#include "machine.h"
#include "runtime/heap.h"
#include "support/check.h"
#include "support/no_fork.h"
#include "tulle/tulle.h"

namespace tulle {

namespace {

constexpr int64_t kLargestSpecialised = 1024;  // extents above are runtime values
constexpr int kMostVariants = 32;              // after that many the kernel for any size is used

// Where a parameter of the host program comes from.
struct ArraySource {
  enum class Kind : uint8_t { Pos, Crd, Values };
  int operand;
  Kind kind;
  int level;
};

const ArraySpan& array_of(const TensorView& view, const ArraySource& source) {
  switch (source.kind) {
    case ArraySource::Kind::Pos:
      return view.levels[static_cast<size_t>(source.level)].pos;
    case ArraySource::Kind::Crd:
      return view.levels[static_cast<size_t>(source.level)].crd;
    case ArraySource::Kind::Values:
      return view.values;
  }
  return view.values;
}

struct ScalarSource {
  enum class Kind : uint8_t { Threads, Extent, Count, Length };
  Kind kind;
  int at;  // index number, operand or buffer parameter
};

// Hands the caller's memory to the runtime and remembers the handles.
class ResultMemory final : public runtime::Memory {
 public:
  explicit ResultMemory(tulle::Memory& memory, size_t results)
      : memory_(memory), handles_(results, nullptr) {}

  void* allocate(size_t result, const loop::BufferNode& buffer, int64_t elements,
                 bool zeroed) override {
    const tulle::Memory::Block block = memory_.allocate(buffer.element, elements, zeroed);
    handles_[result] = block.handle;
    return block.data;
  }
  void* handle(size_t result) const { return handles_[result]; }

 private:
  tulle::Memory& memory_;
  std::vector<void*> handles_;
};

// The caller's parallel_for as the runtime wants it.
class CallerParallelism final : public runtime::Parallelism {
 public:
  explicit CallerParallelism(const RunOptions& options) : options_(options) {}
  int threads() const override { return options_.threads; }
  void run(int count, void (*task)(void* data, int index), void* data) override {
    if (options_.threads == 1 || count == 1) {
      for (int index = 0; index < count; ++index) task(data, index);
    } else if (options_.parallel_for) {
      options_.parallel_for(count, [&](int64_t begin, int64_t end) {
        for (int64_t index = begin; index < end; ++index) task(data, static_cast<int>(index));
      });
    } else {
      runtime::default_parallelism().run(count, task, data);
    }
  }

 private:
  const RunOptions& options_;
};

// A compiled form for operands that are alike: the same extents where kernels are specialised to
// them, sizes and counts of the same magnitude, the same locality.
struct Variant {
  uint64_t signature = 0;
  Executable executable;
  std::vector<ArraySource> arrays;
  std::vector<ScalarSource> scalars;
  const Variant* next = nullptr;
};

class ResolvedExpression final : public Program {
 public:
  ResolvedExpression(const expr::Program& parsed, const std::vector<TensorSpec>& operands,
                     const ProgramOptions& options)
      : operands_(operands), options_(options) {
    std::map<std::string, expr::TensorType> types;
    for (const TensorSpec& spec : operands_) {
      types[spec.name] = {spec.type, spec.index_type, Format::parse(spec.format, spec.rank)};
    }
    expr::ResolveOptions resolving;
    for (const auto& [name, format] : options.out_formats) {
      for (const expr::Statement& statement : parsed.statements) {
        if (statement.tensor != name) continue;
        resolving.out_formats.emplace(
            name, Format::parse(format, static_cast<int>(statement.indices.size())));
      }
    }
    for (const TensorSpec& spec : operands_)
      is_dense_.push_back(types.at(spec.name).format.is_dense());
    program_ = plan::with_unique_indices(expr::resolve(parsed, types, resolving));
    collect_indices();
    for (const std::string& index : plan::specialisable_indices(program_.program)) {
      const auto found = std::find(indices_.begin(), indices_.end(), index);
      if (found != indices_.end())
        specialisable_.push_back(static_cast<int>(found - indices_.begin()));
    }
    describe_results();
  }

  ~ResolvedExpression() override {
    for (const Variant* variant = variants_.load(); variant;) {
      const Variant* next = variant->next;
      delete variant;
      variant = next;
    }
  }

  const std::vector<TensorSpec>& operands() const override { return operands_; }
  const std::vector<TensorSpec>& results() const override { return results_; }

  std::vector<ResultTensor> run(const std::vector<TensorView>& views, Memory& memory,
                                const RunOptions& options) const override {
    thread_local std::vector<int64_t> extents, scalars;
    thread_local std::vector<void*> buffers;
    read_extents(views, extents);
    const Variant& variant = find_variant(views, extents, options);
    const Executable& executable = variant.executable;

    buffers.clear();
    for (const ArraySource& source : variant.arrays) {
      const ArraySpan& span = array_of(views[static_cast<size_t>(source.operand)], source);
      buffers.push_back(const_cast<void*>(span.data));  // NOLINT: kernels never write to operands
    }
    scalars.clear();
    for (const ScalarSource& source : variant.scalars) {
      const auto at = static_cast<size_t>(source.at);
      switch (source.kind) {
        case ScalarSource::Kind::Threads:
          scalars.push_back(options.threads);
          break;
        case ScalarSource::Kind::Extent:
          scalars.push_back(extents[at]);
          break;
        case ScalarSource::Kind::Count:
          scalars.push_back(views[at].values.length);
          break;
        case ScalarSource::Kind::Length: {
          const ArraySource& array = variant.arrays[at];
          scalars.push_back(array_of(views[static_cast<size_t>(array.operand)], array).length);
          break;
        }
      }
    }
    ResultMemory result_memory(memory, executable.program->result_count());
    CallerParallelism parallelism(options);
    std::vector<runtime::Result> found(executable.program->result_count());
    executable.program->run(buffers, scalars, result_memory, parallelism, found);
    return collect(variant, views, extents, found, result_memory);
  }

  std::string explain(const std::vector<TensorView>& views) const override {
    std::vector<int64_t> extents;
    read_extents(views, extents);
    std::string text =
        concat("== expr ==\n", expr::to_string(expr::Program{program_.program.statements}));
    for (const auto& [name, type] : program_.program.tensors) {
      text += concat("  ", name, ": ", name_of(type.type), ", ", type.format.name(), "\n");
    }
    RunOptions options;
    tulle::compile(make_request(views, extents, false, options),
                   [&](std::string_view stage, const std::string& stage_text) {
                     text += concat("\n== ", stage, " ==\n", stage_text);
                   });
    return text;
  }

 private:
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
    }
  }

  void read_extents(const std::vector<TensorView>& views, std::vector<int64_t>& extents) const {
    if (views.size() != operands_.size()) {
      user_error("the program takes ", operands_.size(), " operands, ", views.size(),
                 " were given");
    }
    extents.clear();
    for (size_t i = 0; i < indices_.size(); ++i) {
      const OperandDimension& first = sources_[i].front();
      const int64_t extent = size_of(views, first);
      for (const OperandDimension& other : sources_[i]) {
        if (size_of(views, other) != extent) {
          user_error("index ", indices_[i], " has extent ", extent, " as dimension ",
                     first.dimension, " of ", operands_[static_cast<size_t>(first.operand)].name,
                     " and ", size_of(views, other), " as dimension ", other.dimension, " of ",
                     operands_[static_cast<size_t>(other.operand)].name, "; sizes must agree");
        }
      }
      extents.push_back(extent);
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
                     bool any) const {
    uint64_t hash = any ? 1 : 0;
    auto mix = [&](uint64_t value) {
      hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
    };
    if (any) return hash;
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
    return hash | 2;  // never that of the variant for everything
  }

  // In powers of four.
  static uint64_t magnitude(int64_t value) {
    return static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(value)) / 2);
  }

  const Variant* look_up(uint64_t wanted) const {
    for (const Variant* variant = variants_.load(std::memory_order_acquire); variant;
         variant = variant->next) {
      if (variant->signature == wanted) return variant;
    }
    return nullptr;
  }

  const Variant& find_variant(const std::vector<TensorView>& views,
                              const std::vector<int64_t>& extents,
                              const RunOptions& options) const {
    uint64_t wanted = signature(views, extents, false);
    if (const Variant* found = look_up(wanted)) return *found;
    if (variant_count_ >= kMostVariants) {
      if (const Variant* found = look_up(signature(views, extents, true))) return *found;
    }
    const NoFork no_fork;
    const std::lock_guard lock(compiling_);
    const bool any = variant_count_ >= kMostVariants;
    if (any) wanted = signature(views, extents, true);
    if (const Variant* found = look_up(wanted)) return *found;
    auto variant = std::make_unique<Variant>();
    variant->signature = wanted;
    variant->executable = tulle::compile(make_request(views, extents, any, options));
    bind_parameters(*variant);
    variant->next = variants_.load(std::memory_order_relaxed);
    variants_.store(variant.get(), std::memory_order_release);
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

  // Finds where each parameter of the host program comes from, by its name.
  void bind_parameters(Variant& variant) const {
    std::map<std::string, ArraySource> arrays;
    std::map<std::string, ScalarSource> scalars;
    scalars[lower::kThreads] = {ScalarSource::Kind::Threads, 0};
    for (size_t i = 0; i < indices_.size(); ++i) {
      scalars[lower::extent_name(indices_[i])] = {ScalarSource::Kind::Extent, static_cast<int>(i)};
    }
    for (size_t o = 0; o < operands_.size(); ++o) {
      const std::string& name = operands_[o].name;
      const int operand = static_cast<int>(o);
      scalars[lower::count_name(name)] = {ScalarSource::Kind::Count, operand};
      const lower::TensorBuffers buffers =
          lower::buffers_of(name, program_.program.tensors.at(name));
      arrays[name] = {operand, ArraySource::Kind::Values, 0};
      for (size_t l = 0; l < buffers.pos.size(); ++l) {
        const int level = static_cast<int>(l);
        if (buffers.pos[l]) arrays[buffers.pos[l]->name] = {operand, ArraySource::Kind::Pos, level};
        if (buffers.crd[l]) arrays[buffers.crd[l]->name] = {operand, ArraySource::Kind::Crd, level};
      }
    }
    const auto& buffers = variant.executable.buffers;
    for (size_t b = 0; b < buffers.size(); ++b) {
      variant.arrays.push_back(arrays.at(buffers[b]));
      scalars[buffers[b] + "_size"] = {ScalarSource::Kind::Length, static_cast<int>(b)};
    }
    for (const std::string& name : variant.executable.scalars)
      variant.scalars.push_back(scalars.at(name));
  }

  std::vector<ResultTensor> collect(const Variant& variant, const std::vector<TensorView>& views,
                                    const std::vector<int64_t>& extents,
                                    const std::vector<runtime::Result>& found,
                                    const ResultMemory& memory) const {
    std::vector<ResultTensor> results(results_.size());
    for (size_t r = 0; r < results.size(); ++r) {
      const ResultLayout& layout = variant.executable.results[r];
      const TensorSpec& spec = results_[r];
      for (const OperandDimension& source : spec.sizes_from)
        results[r].sizes.push_back(size_of(views, source));
      auto array = [&](int at, DType type) {
        ResultArray out;
        if (at < 0) return out;
        out = {found[static_cast<size_t>(at)].data, found[static_cast<size_t>(at)].elements, type,
               memory.handle(static_cast<size_t>(at)), -1};
        return out;
      };
      results[r].values = array(layout.values, spec.type);
      const int shared = layout.shared_operand.empty() ? -1 : operand_number(layout.shared_operand);
      for (size_t l = 0; l < layout.pos.size(); ++l) {
        results[r].pos.push_back(array(layout.pos[l], spec.index_type));
        results[r].crd.push_back(array(layout.crd[l], spec.index_type));
        if (shared < 0) continue;
        const LevelSpan& level = views[static_cast<size_t>(shared)].levels[l];
        auto borrow = [&](ResultArray& into, const ArraySpan& span) {
          if (span.length == 0 && !span.data) return;
          into = {const_cast<void*>(span.data), span.length, spec.index_type, nullptr,
                  shared};  // NOLINT: read only
        };
        borrow(results[r].pos[l], level.pos);
        borrow(results[r].crd[l], level.crd);
      }
    }
    (void)extents;
    return results;
  }

  std::vector<TensorSpec> operands_, results_;
  std::vector<bool> is_dense_;  // of operands
  ProgramOptions options_;
  plan::UniqueProgram program_;
  std::vector<std::string> indices_;                        // of the whole program
  std::vector<std::vector<OperandDimension>> sources_;      // where the extent of each is read
  std::vector<int> specialisable_;                          // numbers of indices
  mutable std::atomic<const Variant*> variants_ = nullptr;  // a list that only grows
  mutable std::mutex compiling_;                            // taken inside NoFork
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

void validate(const TensorSpec& spec, const TensorView& view) {
  std::vector<LevelStorage> levels;
  for (const LevelSpan& level : view.levels) {
    levels.push_back(
        {{level.pos.data, level.pos.length, nullptr}, {level.crd.data, level.crd.length, nullptr}});
  }
  validate(Pattern(Format::parse(spec.format, spec.rank), view.sizes, spec.index_type,
                   std::move(levels)),
           spec.name);
}

}  // namespace tulle
