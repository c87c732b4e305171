// Adds up the costs of instructions and memory accesses over the loops of a nest.
#include "plan/tune/schedule_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nest/merged_rows.h"
#include "plan/order/loop_trips.h"
#include "support/gpu_limits.h"

namespace tulle::plan {

using expr::Access;

namespace {

constexpr double kFrequency = 3e9;
// In cycles.
constexpr double kLoopStep = 1.0;  // increment and branch
constexpr double kEntry = 1.5;     // loads a coordinate and computes the address that it selects
constexpr double kRow = 12;  // enters a loop with a data-dependent length and mispredicts its exit
constexpr double kElement = 0.5;   // an operand that an instruction loads
constexpr double kStrided = 4;     // an element of a strided access
constexpr double kSpill = 1.5;     // an accumulator in memory
constexpr double kTracked = 10;    // an element of a tracked workspace
constexpr double kPrefetched = 1;  // per cache line
constexpr double kLaunch = 6000;   // wakes the threads
// Bytes per cycle and thread.
constexpr double kSecondCache = 48;
constexpr double kLastCache = 22;
constexpr double kMemory = 4.5;
constexpr double kPastCaches = 9;  // of nontemporal stores, which nothing waits for
// Cycles per gathered row, independent of its length: from the last-level cache, from memory.
constexpr double kTouchCache = 3, kTouchMemory = 6;
// Factors on the wait for cache misses: one entry at a time, several at once, prefetched.
constexpr double kAlone = 1.6, kTogether = 1.25, kAhead = 1.0;
constexpr double kUnevenRows = 1.15;  // longest share / mean share
constexpr double kLine = 64;
// GPU constants.
constexpr double kGpuFrequency = 1.7e9, kGpuBandwidth = 3e12, kLatencyOfGpu = 3000;
constexpr double kThreadsOfGpu = 1024, kCoresOfGpu = 128;
constexpr double kRegisters = 28;  // vector registers for accumulators

}  // namespace

double ScheduleCost::estimate(const nest::Nest& nest) {
  nest_ = &nest;
  cycles_ = waiting_ = 0;
  is_parallel_ = is_balanced_ = false;
  workers_ = block_ = 1;
  visit(nest.root, {});
  if (is_gpu(machine_.backend)) return estimate_gpu();
  double cycles = std::max(cycles_, waiting_) + 0.3 * std::min(cycles_, waiting_);
  if (is_parallel_ && machine_.threads > 1) {
    cycles = cycles / machine_.threads * (is_balanced_ ? 1.0 : kUnevenRows) + kLaunch;
    if (nest::loop_over_merged_rows(nest)) cycles += kLaunch;  // for the kernel that merges
  }
  return cycles / kFrequency;
}

// The threads that run at once share the instructions, in whole warps. The memory bandwidth is
// shared too, and few threads cannot saturate it.
double ScheduleCost::estimate_gpu() const {
  const double fit = machine_.multiprocessors * kThreadsOfGpu;
  const double warps = std::ceil(block_ / kWarpSize) * kWarpSize;
  const double idle = std::max(1.0, warps / block_);
  const double busy = std::clamp(workers_, 1.0, fit);
  const double bytes = waiting_ * kMemory;  // undoes the cost per CPU thread
  const double latency = kLatencyOfGpu * std::max(1.0, workers_ / fit);
  return idle * cycles_ / std::min(busy, machine_.multiprocessors * kCoresOfGpu) / kGpuFrequency +
         bytes / (kGpuBandwidth * std::min(1.0, busy / fit * 2)) + latency / kGpuFrequency;
}

void ScheduleCost::visit(const nest::Stmt& stmt, Path path) {
  if (const auto* loop = stmt.as<nest::Forall>()) {
    visit_loop(*loop, std::move(path));
  } else if (const auto* where = stmt.as<nest::Where>()) {
    visit(where->producer, path);
    visit(where->consumer, std::move(path));
  } else if (const auto* sequence = stmt.as<nest::Sequence>()) {
    for (const nest::Stmt& part : sequence->stmts) visit(part, path);
  } else if (const auto* assign = stmt.as<nest::Assign>()) {
    visit_assign(*assign, path);
  }
}

// The trip count of a loop over the variable. Binds the variable.
double ScheduleCost::bind(const std::string& var, Path& path) {
  using Origin = nest::Variable::Origin;
  auto bound = [&](const std::string& name, double most) {
    const double count = std::min(trips(path.bound, name), most);
    path.bound.push_back(name);
    return count;
  };
  if (problem_.extents.contains(var)) return bound(var, std::numeric_limits<double>::infinity());
  const nest::Variable& variable = nest_->variable(var);
  const auto width = static_cast<double>(variable.factor);
  const bool is_own = problem_.extents.contains(variable.parent);
  switch (variable.origin) {
    case Origin::Outer:
      return std::ceil(extent(variable.parent) / width);
    case Origin::OuterPosition:
      return is_own ? std::ceil(trips(path.bound, variable.parent) / width) : 1;
    case Origin::Stored:
      return bind(variable.parent, path);
    case Origin::Inner:
    case Origin::InnerPosition:
      return is_own ? bound(variable.parent, width) : width;
    case Origin::Fused:
    case Origin::Difference: {
      const double first = bind(variable.parent, path);
      return first * bind(variable.second, path);
    }
    case Origin::Chunk:
    case Origin::EntryChunk:
      return chunks(variable);
    case Origin::ChunkRow:
      return std::max(1.0, bind(variable.parent, path) / chunks(variable));
    case Origin::Entry: {
      const double rows = bind(variable.parent, path);
      return std::max(1.0, rows * bind(variable.second, path) / chunks(variable));
    }
    case Origin::Source:
      return 1;
  }
  return 1;
}

// The number of chunks: of entries, or of rows plus entries.
double ScheduleCost::chunks(const nest::Variable& variable) const {
  if (variable.parts > 0) return static_cast<double>(variable.parts);
  const auto count = problem_.counts.find(variable.tensor);
  const double entries = count == problem_.counts.end() ? 0 : count->second;
  const double work = entries + (variable.is_of_entries() ? 0 : extent(variable.parent));
  return std::max(1.0, std::ceil(work / static_cast<double>(variable.factor)));
}

void ScheduleCost::visit_loop(const nest::Forall& loop, Path path) {
  using Kind = nest::LoopTag::Kind;
  const double count = bind(loop.var, path);
  const double lanes = loop.tag.kind == Kind::Vector ? loop.tag.factor : 1;
  double copies = loop.tag.kind == Kind::Unrolled ? std::max(1, loop.tag.factor) : lanes;
  const double steps = std::max(count / lanes, std::min(1.0, count));
  const bool is_walked = is_stored(loop.var);
  // A loop of known length is unrolled.
  if (nest_->known_extent(loop.var)) copies = std::max(copies, 4 * lanes);
  cycles_ += path.steps * (count / copies * kLoopStep + (is_walked ? kRow + count * kEntry : 0));
  path.visits *= count;
  path.steps *= lanes > 1 ? std::ceil(steps) : count;
  path.loops.push_back(loop.var);
  if (loop.tag.is_bound()) {
    workers_ = std::max(workers_, path.visits);
    if (loop.tag.is_within_block()) block_ = std::max(1.0, block_ * count);
  }
  if (lanes > 1) path.vector = loop.var;
  if (loop.tag.kind == Kind::Unrolled) path.unrolled = std::max(2, loop.tag.factor);
  if (loop.tag.kind == Kind::Parallel) {
    is_parallel_ = true;
    is_balanced_ = loop.tag.balance != nest::LoopTag::Balance::Rows;
  }
  visit(loop.body, std::move(path));
}

void ScheduleCost::visit_assign(const nest::Assign& assign, const Path& path) {
  for (const Access* access : expr::accesses(assign.value)) read_operand(*access, path);
  cycles_ += path.steps * kElement;
  const nest::Tensor& written = nest_->tensor(assign.tensor);
  if (written.role == nest::Tensor::Role::Result) return add_result(assign, path);
  if (written.is_tracked()) {
    cycles_ += path.steps * kTracked;
    return;
  }
  double bytes = static_cast<double>(size_of(written.type.type));
  for (const std::string& index : assign.indices) bytes *= extent(index);
  for (const std::string& index : assign.indices) {
    // With panels, the workspace only holds the columns of one panel.
    for (const auto& [name, variable] : nest_->variables) {
      if (variable.origin == nest::Variable::Origin::Inner && variable.parent == index)
        bytes = std::min(bytes, bytes / extent(index) * static_cast<double>(variable.factor));
    }
  }
  if (bytes > kRegisters * machine_.vector_bytes) cycles_ += path.steps * kSpill;
}

void ScheduleCost::read_operand(const Access& access, const Path& path) {
  const nest::Tensor& tensor = nest_->tensor(access.tensor);
  if (tensor.role == nest::Tensor::Role::Workspace) return;
  const std::string innermost = path.loops.empty() ? std::string() : path.loops.back();
  const bool varies = varies_with(access.indices, innermost);
  if (varies) {
    const bool lies_alone = innermost != path.vector && tensor.type.format.is_dense() &&
                            !access.indices.empty() &&
                            !varies_with({access.indices.back()}, innermost);
    cycles_ += path.steps * (lies_alone ? kStrided : kElement);
  }
  if (!tensor.type.format.is_dense()) {
    // Reads values and coordinates sequentially, once for each iteration of the loops outside.
    double passes = 1;
    std::vector<std::string> bound;
    for (const std::string& var : path.loops) {
      if (varies_with(access.indices, var)) break;
      passes *= extent(var);
    }
    const double bytes =
        problem_.counts.contains(access.tensor)
            ? problem_.counts.at(access.tensor) *
                  static_cast<double>(size_of(tensor.type.type) + size_of(tensor.type.index_type))
            : 0;
    waiting_ += passes * bytes / (bytes > machine_.last_cache ? kMemory : kLastCache);
    return;
  }
  gather(access, path);
}

// Adds the cost of the rows of a dense operand that entries select.
void ScheduleCost::gather(const Access& access, const Path& path) {
  const double size = static_cast<double>(size_of(nest_->tensor(access.tensor).type.type));
  double touched = size * path.visits, row_bytes = size;
  const std::string innermost = path.loops.empty() ? std::string() : path.loops.back();
  if (varies_with(access.indices, innermost)) {
    row_bytes *= extent(innermost);
  } else {
    touched /= std::max(1.0, extent(innermost));
  }
  const double footprint = bytes_of(access, path);
  bool is_picked = false;
  double distinct = 1;
  for (const std::string& index : access.indices) {
    if (!is_stored(index)) continue;
    is_picked = true;
    for (const Access* other : expr::accesses(problem_.statement->value)) {
      const auto share = problem_.distinct_shares.find(other->tensor);
      if (other->tensor != access.tensor && share != problem_.distinct_shares.end() &&
          varies_with(other->indices, index))
        distinct = std::min(distinct, share->second);
    }
  }
  if (!is_picked) {
    waiting_ +=
        std::min(touched, footprint) / (footprint > machine_.last_cache ? kMemory : kLastCache);
    return;
  }
  const bool ahead = std::any_of(nest_->prefetches.begin(), nest_->prefetches.end(),
                                 [&](const auto& p) { return p.tensor == access.tensor; });
  const double hiding = ahead ? kAhead : path.unrolled > 1 ? kTogether : kAlone;
  if (ahead) cycles_ += touched / kLine * kPrefetched;
  const bool fits = footprint <= machine_.second_cache / 2.0;
  const bool is_near = footprint <= machine_.last_cache / 2.0;
  const double speed = fits ? kSecondCache : is_near ? kLastCache : kMemory;
  const double touches = touched / std::max(size, row_bytes);
  const double touch = fits ? 1 : is_near ? kTouchCache : kTouchMemory;
  waiting_ += touched * (1 - distinct) / kSecondCache + touches * (1 - distinct) +
              distinct * hiding * (touched / speed + touches * touch);
}

void ScheduleCost::add_result(const nest::Assign& assign, const Path& path) {
  const double size = static_cast<double>(size_of(nest_->tensor(assign.tensor).type.type));
  double elements = 1;
  for (const std::string& index : assign.indices) elements *= extent(index);
  elements = std::min(elements, path.visits);
  if (assign.accumulate) cycles_ += path.steps * kSpill;
  const double bytes = size * elements;
  const bool past = std::find(nest_->nontemporal.begin(), nest_->nontemporal.end(),
                              assign.tensor) != nest_->nontemporal.end();
  const bool is_large = bytes > machine_.last_cache / 2.0;
  // A store through the caches first reads the cache line.
  waiting_ += bytes * (past ? 1.0 / kPastCaches : is_large ? 2.0 / kMemory : 2.0 / kLastCache);
}

double ScheduleCost::trips(const std::vector<std::string>& outside, const std::string& var) {
  const auto [found, is_new] = trips_.try_emplace({outside, var}, 0);
  if (is_new) found->second = estimate_trips(operands_, outside, var);
  return found->second;
}

double ScheduleCost::extent(const std::string& var) const {
  const auto found = problem_.extents.find(var);
  if (found != problem_.extents.end()) return std::max(1.0, found->second);
  const auto variable = nest_->variables.find(var);
  if (variable == nest_->variables.end() || variable->second.parent.empty()) return 1;
  const nest::Variable& derived = variable->second;
  using Origin = nest::Variable::Origin;
  if (derived.origin == Origin::Chunk || derived.origin == Origin::EntryChunk)
    return chunks(derived);
  if (derived.origin == Origin::Entry) return static_cast<double>(derived.factor);
  if (derived.origin == Origin::ChunkRow || derived.origin == Origin::Stored)
    return extent(derived.parent);
  const double whole = extent(derived.parent), width = static_cast<double>(derived.factor);
  if (derived.origin == nest::Variable::Origin::Inner) return std::min(whole, width);
  return derived.origin == nest::Variable::Origin::Outer ? std::ceil(whole / width)
                                                         : whole * extent(derived.second);
}

bool ScheduleCost::varies_with(const std::vector<std::string>& indices,
                               const std::string& var) const {
  if (var.empty()) return false;
  const auto known = nest_->variables.find(var);
  const std::vector<std::string> sources =
      known == nest_->variables.end() ? std::vector{var} : nest_->sources(var);
  return std::any_of(indices.begin(), indices.end(), [&](const std::string& index) {
    return index == var || std::find(sources.begin(), sources.end(), index) != sources.end();
  });
}

// Whether some operand stores the coordinates of this index or of a loop over a part of it.
bool ScheduleCost::is_stored(const std::string& index) const {
  for (const Access* access : expr::accesses(problem_.statement->value)) {
    for (const Level& level : problem_.tensors->at(access->tensor).format.levels()) {
      if (is_full(level.kind)) continue;
      const std::string& walked = access->indices[static_cast<size_t>(level.expr.dimension)];
      if (walked == index || level_variable(level.expr, access->indices, problem_.space) == index)
        return true;
    }
  }
  return false;
}

// The working set of a dense operand: the bytes that are reused during one iteration of the
// outermost loops over columns.
double ScheduleCost::bytes_of(const Access& access, const Path& path) const {
  double bytes = static_cast<double>(size_of(nest_->tensor(access.tensor).type.type));
  for (const std::string& index : access.indices) bytes *= extent(index);
  for (const std::string& var : path.loops) {
    if (!varies_with(access.indices, var) || is_stored(var)) break;
    bytes /= std::max(1.0, extent(var));
  }
  return bytes;
}

}  // namespace tulle::plan
