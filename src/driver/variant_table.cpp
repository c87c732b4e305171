// Computes the signatures of calls, finds variants, and compiles new ones.
#include "driver/variant_table.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "cache/tuned_plans.h"
#include "codegen/target.h"
#include "driver/machine.h"
#include "driver/tuned_schedules.h"
#include "plan/rewrite/specialisable_indices.h"
#include "plan/tune/plan_key.h"
#include "support/no_fork.h"

namespace tulle {

namespace {

// With this many variants, new calls use the variant for all sizes.
constexpr int kMostVariants = 256;
constexpr uint64_t kForAll = 1;  // the signature of that variant

// Whether all programs of the process run in checked mode.
bool is_checked_process() {
  static const bool is_checked = [] {
    const char* value = std::getenv("TULLE_CHECKED");
    return value && std::string_view(value) == "1";
  }();
  return is_checked;
}

// A number for device and order of sums: 0 for the CPU; each GPU has one for sums in any order and
// one for sums in one order.
uint64_t place_of(const RunOptions& options) {
  if (!options.device.is_cuda()) return 0;
  return 2 + 2 * static_cast<uint64_t>(options.device.ordinal) + (options.deterministic ? 1 : 0);
}

}  // namespace

VariantTable::VariantTable(const plan::UniqueProgram& program,
                           const std::vector<TensorSpec>& operands,
                           const std::vector<std::string>& indices, const ProgramOptions& options,
                           const CompileLimits& limits, const jit::ContentHash& source)
    : program_(program),
      operands_(operands),
      indices_(indices),
      options_(options),
      limits_(limits),
      source_(source) {
  if (!options.features.empty()) codegen::host_target(options.features);  // checks the names
  for (size_t o = 0; o < operands.size(); ++o) {
    const Format& format = program.program.tensors.at(operands[o].name).format;
    if (!format.is_dense()) sparse_.push_back(o);
    samples_.emplace_back(operands[o], format);
  }
  for (const std::string& index : plan::specialisable_indices(program.program)) {
    const auto found = std::find(indices.begin(), indices.end(), index);
    if (found != indices.end()) {
      specialisable_.push_back(static_cast<size_t>(found - indices.begin()));
    }
  }
}

VariantTable::~VariantTable() {
  for (const auto& list : lists_) {
    for (const Variant* variant = list.load(); variant;) {
      const Variant* next = variant->next;
      delete variant;
      variant = next;
    }
  }
}

const Variant& VariantTable::find(const std::vector<TensorView>& views,
                                  const std::vector<int64_t>& extents,
                                  const RunOptions& options) const {
  uint64_t wanted = signature(views, extents, options);
  const uint64_t kept = tuned_plan_changes();
  const Variant* found = look_up(wanted, extents);
  if (found && found->plan_changes.load(std::memory_order_relaxed) == kept) return *found;
  const uint64_t for_all = kForAll | place_of(options) << 2;
  if (count_ >= kMostVariants) {
    if (!found) found = look_up(for_all, extents);
    if (found) return *found;
  }
  const NoFork no_fork;
  const std::lock_guard lock(compiling_);
  const bool any = count_ >= kMostVariants;
  if (any) wanted = for_all;
  CompileRequest missing = request(views, extents, options, any);
  found = look_up(wanted, extents);
  if (!found || found->tuned != missing.tuned) {
    // The new variant precedes those with an older plan.
    return add(wanted, std::move(missing), kept);
  }
  found->plan_changes.store(kept, std::memory_order_relaxed);
  return *found;
}

// The variant of that signature whose guards hold for these extents.
const Variant* VariantTable::look_up(uint64_t wanted, const std::vector<int64_t>& extents) const {
  const Variant* variant = list_for(wanted).load(std::memory_order_acquire);
  while (variant && !(variant->signature == wanted && variant->serves(extents))) {
    variant = variant->next;
  }
  return variant;
}

const Variant& VariantTable::add(uint64_t wanted, CompileRequest request,
                                 uint64_t plan_changes) const {
  auto variant = std::make_unique<Variant>();
  variant->signature = wanted;
  variant->tuned = request.tuned;
  variant->plan_changes = plan_changes;
  for (size_t i = 0; i < indices_.size(); ++i) {
    const auto known = request.plan.known_extents.find(indices_[i]);
    if (known != request.plan.known_extents.end()) variant->guards.push_back({i, known->second});
  }
  variant->executable = compile_tuned(request);
  variant->bind(operands_, indices_, program_.program);
  std::atomic<const Variant*>& list = list_for(wanted);
  variant->next = list.load(std::memory_order_relaxed);
  list.store(variant.get(), std::memory_order_release);
  ++count_;
  *code_bytes_ += variant->executable.code_bytes();
  if (variant->executable.gpu_program)
    variant->executable.gpu_program->count_better_code(code_bytes_);
  return *variant.release();
}

// A hash that is equal for operands that share a variant.
uint64_t VariantTable::signature(const std::vector<TensorView>& views,
                                 const std::vector<int64_t>& extents,
                                 const RunOptions& options) const {
  const uint64_t place = place_of(options);
  uint64_t hash = static_cast<uint64_t>(place == 0 ? options.threads : 0);
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29); };
  mix(place);
  for (const int64_t extent : extents) mix(plan::magnitude(extent));
  for (const size_t index : specialisable_) {
    mix(static_cast<uint64_t>(extents[index] <= kLargestSpecialised ? extents[index] : -1));
  }
  for (const size_t operand : sparse_) {
    const OperandSamples& samples = samples_[operand];
    mix(plan::magnitude(samples.entries(views[operand], options.device)));
    const double share = samples.distinct_share(views[operand], options.device);
    mix(1 + static_cast<uint64_t>(plan::locality_of(share)));
  }
  return hash | kForAll << 1;  // never the signature of the variant for all sizes
}

CompileRequest VariantTable::request(const std::vector<TensorView>& views,
                                     const std::vector<int64_t>& extents, const RunOptions& options,
                                     bool any) const {
  CompileRequest request;
  request.plan.program = &program_;
  request.source = source_;
  request.limits = limits_;
  for (size_t o = 0; o < operands_.size(); ++o) {
    request.operands.push_back(operands_[o].name);
    request.plan.statistics[operands_[o].name] = {
        views[o].sizes, samples_[o].entries(views[o], options.device),
        samples_[o].distinct_share(views[o], options.device), operands_[o].longest_row};
  }
  for (const size_t index : specialisable_) {
    if (!any && extents[index] <= kLargestSpecialised) {
      request.plan.known_extents[indices_[index]] = extents[index];
    }
  }
  set_machine(options.device, options_.features, options.threads, request);
  request.plan.machine.deterministic = options.deterministic;
  request.schedule = options_.schedule;
  request.checked = options_.checked || is_checked_process();
  if (!any && options_.tuned && options_.schedule.empty() && !options.deterministic)
    request.tuned = find_tuned_schedules(request);
  return request;
}

}  // namespace tulle
