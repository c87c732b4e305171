// Allocates workspaces.
#include "lower/workspaces/workspaces.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "lower/levels/dense.h"
#include "lower/levels/spread.h"
#include "lower/monoid.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

void Workspaces::allocate(const nest::Where& where, const std::string& name, Emitter& out) {
  OwnElements own{where, {}};
  for (const nest::Assign* assign : nest::assigns(where.producer)) {
    if (assign->tensor == name) own.indices = assign->indices;
  }
  if (kernel_.nest.tensor(name).is_tracked()) {
    allocate_tracked(name, own.indices, out);
  } else if (own.indices.empty()) {
    allocate_scalar(name, nest::accumulation_of(where.producer, name), out);
  } else {
    allocate_array(name, own, out);
  }
}

void Workspaces::allocate_scalar(const std::string& name, nest::Accumulate accumulate,
                                 Emitter& out) {
  TensorCode& target = kernel_.code(name);
  const loop::Type type{kernel_.nest.tensor(name).type.type, 1};
  target.scalar = out.declare(name, identity_of(accumulate, type));
  const bool asked = (kernel_.assembles() || told_from_zero_.contains(name)) &&
                     nest::starts_absent(accumulate) && !kernel_.is_staged(name);
  if (asked) target.written = out.declare(name + "_written", IntConst::make(0, loop::kBool));
}

void Workspaces::allocate_array(const std::string& name, const OwnElements& own, Emitter& out) {
  TensorCode& target = kernel_.code(name);
  const nest::Accumulate accumulate = nest::accumulation_of(own.where.producer, name);
  const bool is_copy = kernel_.is_staged(name);
  if (kernel_.assembles() && nest::starts_absent(accumulate) && !is_copy)
    target.written = out.declare(name + "_written", IntConst::make(0, loop::kBool));
  target.levels.clear();
  if (own.is_spread()) return allocate_scalar(name, accumulate, out);
  for (const std::string& index : own.indices) {
    if (own.is_spread(index)) {
      target.levels.push_back(std::make_unique<SpreadLevel>());
    } else {
      target.levels.push_back(std::make_unique<DenseLevel>(own.extent(kernel_, index)));
    }
  }
  place_array(name, own.count(kernel_), out);
  if (kernel_.phase == Phase::Count || is_copy) return;

  const loop::Type type{kernel_.nest.tensor(name).type.type, 1};
  const Expr start =
      mutant("workspace-wrong-zero") ? loop::constant(type, 1) : identity_of(accumulate, type);
  out.add(own.for_each(kernel_, [&](const Expr& at) {
    return loop::Store::make(target.values, target.base ? target.base + at : at, start);
  }));
}

void Workspaces::place_array(const std::string& name, const Expr& count, Emitter& out) {
  TensorCode& target = kernel_.code(name);
  const DType element = kernel_.nest.tensor(name).type.type;
  const Expr size = kernel_.is_bound() ? loop::maximum(count, IntConst::make(1)) : count;
  const auto* known = size.as<IntConst>();
  target.size = size;
  if (known) target.elements = known->value;
  const int64_t largest = frame_.on_gpu() ? nest::kLargestThreadLocal : nest::kLargestLocal;
  if (known && known->value > 0 && known->value <= largest) {
    target.values = loop::make_buffer(kernel_.names.fresh(name), element, loop::Space::Local);
    target.base = {};  // it may have been shared in an earlier use
    // A copy is zeroed, because whole vectors may read past the copied elements.
    out.add(loop::Allocate::make(target.values, size, kernel_.is_staged(name)));
  } else if (!target.values) {
    const KernelFrame::Place place = frame_.allocate(name, element, size, false, hoisted_);
    target.values = place.buffer;
    if (frame_.on_gpu()) target.base = place.base;
  }
}

void Workspaces::allocate_tracked(const std::string& name, const std::vector<std::string>& indices,
                                  Emitter& out) {
  TULLE_CHECK(!indices.empty(), "a tracked workspace without variables");
  TensorCode& target = kernel_.code(name);
  if (!target.tracked) {
    target.tracked = std::make_unique<TrackedArrays>(tracked_arrays(name, indices));
    target.values = target.tracked->values;
    target.base = target.tracked->values_base;
    target.levels.push_back(std::make_unique<TrackedLevel>(*target.tracked));
    for (size_t d = 1; d < indices.size(); ++d) {
      target.levels.push_back(std::make_unique<DenseLevel>(kernel_.coordinates.extent(indices[d])));
    }
  }
  begin_round(out, *target.tracked);
}

TrackedArrays Workspaces::tracked_arrays(const std::string& name,
                                         const std::vector<std::string>& indices) {
  const nest::Tensor& tensor = kernel_.nest.tensor(name);
  const Expr extent = kernel_.coordinates.extent(indices[0]);
  TrackedArrays arrays;
  for (size_t d = 1; d < indices.size(); ++d) {
    const Expr inner = kernel_.coordinates.extent(indices[d]);
    arrays.block = arrays.block ? arrays.block * inner : inner;
  }
  const auto place = [&](const std::string& suffix, DType element, const Expr& size, bool zeroed) {
    KernelFrame::Place found = frame_.allocate(name + suffix, element, size, zeroed, hoisted_);
    if (!frame_.on_gpu()) found.base = {};
    return std::pair(found.buffer, found.base);
  };
  if (stores_values(indices, arrays.block)) {
    const Expr size = arrays.block ? extent * arrays.block : extent;
    std::tie(arrays.values, arrays.values_base) = place("_values", tensor.type.type, size, true);
    std::tie(arrays.list, arrays.list_base) =
        place("_list", tensor.type.index_type, extent + 1, false);
  }
  std::tie(arrays.stamps, arrays.stamps_base) = place("_stamps", DType::Int32, extent, true);
  if (tensor.tracking == nest::Tensor::Tracking::Scanned) arrays.scanned = extent;
  arrays.count = hoisted_.declare(name + "_count", IntConst::make(0));
  arrays.round = hoisted_.declare(name + "_round", IntConst::make(0, {DType::Int32, 1}));
  return arrays;
}

// Counting usually only needs the number of coordinates. It needs values if the format depends on
// the last coordinate of a row, or if blocks may be empty or cut off.
bool Workspaces::stores_values(const std::vector<std::string>& indices, const Expr& block) const {
  const auto* known = block ? block.as<IntConst>() : nullptr;
  const bool may_be_empty = block && (!known || known->value == 0);
  return !result_.counts_alone() || may_be_empty || !tracks_entries(indices);
}

bool Workspaces::tracks_entries(const std::vector<std::string>& indices) const {
  using Origin = nest::Variable::Origin;
  const nest::Variable& tracked = kernel_.nest.variable(indices[0]);
  if (tracked.origin == Origin::Source) return true;
  return tracked.origin == Origin::Outer &&
         std::any_of(indices.begin(), indices.end(), [&](const std::string& index) {
           const nest::Variable& inner = kernel_.nest.variable(index);
           return inner.origin == Origin::Inner && inner.parent == tracked.parent;
         });
}

}  // namespace tulle::lower
