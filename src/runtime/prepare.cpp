// Resolves names to slots.
#include "runtime/prepare.h"

#include <algorithm>
#include <unordered_map>

#include "support/check.h"

namespace tulle::runtime {

using loop::Expr;
using loop::Stmt;

namespace {

// The parallel or block loop of a kernel and the lets before it, which its bounds may use.
struct ParallelLoop {
  const loop::For* loop = nullptr;
  std::unordered_map<std::string, Expr> lets;

  void find(const Stmt& stmt) {
    if (const auto* block = stmt.as<loop::Block>()) {
      for (const Stmt& inner : block->stmts) {
        if (!loop) find(inner);
      }
    } else if (const auto* let = stmt.as<loop::Let>()) {
      lets[let->name] = let->value;
    } else if (const auto* test = stmt.as<loop::If>()) {
      find(test->yes);
      if (!loop && test->no) find(test->no);
    } else if (const auto* candidate = stmt.as<loop::For>();
               candidate && (candidate->loop == loop::ForKind::Parallel ||
                             candidate->loop == loop::ForKind::Block)) {
      loop = candidate;
    }
  }
};

class ProgramPreparation {
 public:
  ProgramPreparation(const loop::HostProgram& program,
                     const std::vector<loop::KernelFunction>& kernels)
      : program_(program), kernels_(kernels) {}

  PreparedProgram make() {
    prepared_.buffer_parameters = program_.buffers.size();
    prepared_.scalar_parameters = program_.scalars.size();
    for (const loop::BufferParam& parameter : program_.buffers)
      define_buffer(parameter.buffer->name);
    for (const loop::ScalarParam& parameter : program_.scalars) define_scalar(parameter.name);
    for (const loop::HostStep& step : program_.steps) {
      std::visit([&](const auto& s) { prepared_.actions.emplace_back(prepare(s)); }, step);
    }
    for (const loop::Buffer& result : program_.results)
      prepared_.results.push_back(buffer(result->name));
    prepared_.buffers = buffers_.size();
    prepared_.scalars = scalars_.size();
    return std::move(prepared_);
  }

 private:
  int define(std::unordered_map<std::string, int>& names, const std::string& name) {
    const auto [at, is_new] = names.emplace(name, static_cast<int>(names.size()));
    TULLE_CHECK(is_new, "the host program ", program_.name, " defines ", name, " twice");
    return at->second;
  }
  int define_buffer(const std::string& name) { return define(buffers_, name); }
  int define_scalar(const std::string& name) { return define(scalars_, name); }

  int find(const std::unordered_map<std::string, int>& names, const std::string& name,
           const char* what) const {
    const auto at = names.find(name);
    TULLE_CHECK(at != names.end(), "the host program ", program_.name, " uses the ", what, " ",
                name, " before any step defines it");
    return at->second;
  }
  int buffer(const std::string& name) const { return find(buffers_, name, "buffer"); }
  int scalar(const std::string& name) const { return find(scalars_, name, "scalar"); }

  ScalarCode code(const Expr& expr) const {
    return ScalarCode(expr, [&](const std::string& name) { return scalar(name); });
  }

  int result_number(const loop::Buffer& node) const {
    const auto& results = program_.results;
    const auto at = std::find_if(results.begin(), results.end(),
                                 [&](const auto& r) { return r->name == node->name; });
    return at == results.end() ? -1 : static_cast<int>(at - results.begin());
  }

  ComputeAction prepare(const loop::LetStep& step) {
    ScalarCode value = code(step.value);
    return {define_scalar(step.name), std::move(value)};
  }

  AllocateAction prepare(const loop::AllocateStep& step) {
    ScalarCode size = code(step.size);
    const int result = result_number(step.buffer);
    return {define_buffer(step.buffer->name), result, step.buffer, std::move(size), step.zeroed};
  }

  LaunchAction prepare(const loop::LaunchStep& step) {
    const loop::Kernel& kernel = program_.kernel(step.kernel);
    const auto number = static_cast<size_t>(&kernel - program_.kernels.data());
    LaunchAction launch{kernel.name, number, kernels_.empty() ? nullptr : kernels_[number]};
    for (const auto& parameter : kernel.buffers)
      launch.buffers.push_back(buffer(parameter.buffer->name));
    for (const auto& parameter : kernel.scalars) launch.scalars.push_back(scalar(parameter.name));
    ParallelLoop parallel;
    parallel.find(kernel.body);
    if (!parallel.loop) return launch;
    const auto lookup = [&](const std::string& name) -> ScalarCode::Meaning {
      if (const auto let = parallel.lets.find(name); let != parallel.lets.end()) return let->second;
      return scalar(name);
    };
    launch.parallel = true;
    launch.begin = ScalarCode(parallel.loop->begin, lookup);
    launch.end = ScalarCode(parallel.loop->end, lookup);
    launch.step = parallel.loop->step;
    return launch;
  }

  ScanAction prepare(const loop::ScanStep& step) {
    return {buffer(step.buffer->name), step.buffer, code(step.length)};
  }

  ReadAction prepare(const loop::ReadStep& step) {
    const int from = buffer(step.buffer->name);
    ScalarCode index = code(step.index);
    return {define_scalar(step.name), from, step.buffer->element, std::move(index), step};
  }

  SortAction prepare(const loop::SortStep& step) {
    TULLE_CHECK(step.order->element == DType::Int64, "the permutation ", step.order->name);
    SortAction sort{buffer(step.order->name), {}, {}, code(step.length)};
    for (const loop::Buffer& key : step.keys) {
      sort.keys.push_back(buffer(key->name));
      sort.elements.push_back(key->element);
    }
    return sort;
  }

  ReleaseAction prepare(const loop::FreeStep& step) {
    const int slot = buffer(step.buffer->name);
    const bool is_parameter = static_cast<size_t>(slot) < prepared_.buffer_parameters;
    TULLE_CHECK(!is_parameter && result_number(step.buffer) < 0, "the host program ", program_.name,
                " frees ", step.buffer->name, ", which is not its own");
    return {slot};
  }

  KeepAction prepare(const loop::KeepStep& step) {
    open_ = prepared_.actions.size();
    return {step.what, step.tensor};
  }

  KeptAction prepare(const loop::KeptStep& step) {
    KeepAction& keep = std::get<KeepAction>(prepared_.actions[open_]);
    for (const loop::Buffer& array : step.arrays) keep.arrays.push_back(buffer(array->name));
    keep.end = prepared_.actions.size();
    return {};
  }

  const loop::HostProgram& program_;
  const std::vector<loop::KernelFunction>& kernels_;
  size_t open_ = 0;  // the last KeepAction
  PreparedProgram prepared_;
  std::unordered_map<std::string, int> buffers_, scalars_;
};

}  // namespace

PreparedProgram prepare_program(const loop::HostProgram& program,
                                const std::vector<loop::KernelFunction>& kernels) {
  TULLE_CHECK(kernels.empty() || kernels.size() == program.kernels.size(), kernels.size(),
              " functions for ", program.kernels.size(), " kernels");
  return ProgramPreparation(program, kernels).make();
}

}  // namespace tulle::runtime
