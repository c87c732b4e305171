// Workspaces: a scalar in a register, a small array in registers or on the stack, a tracked row in
// memory.
#include <algorithm>

#include "lower/kernel_lowering.h"
#include "lower/levels/dense.h"
#include "lower/levels/spread.h"
#include "lower/monoid.h"
#include "lower/own_elements.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

void KernelLowering::allocate_workspace(const nest::Where& where, const std::string& name,
                                        Emitter& out) {
  std::vector<std::string> indices;
  for (const nest::Assign* assign : nest::assigns(where.producer)) {
    if (assign->tensor == name) indices = assign->indices;
  }
  if (nest_.tensor(name).is_tracked()) {
    allocate_tracked(name, indices, out);
  } else if (indices.empty()) {
    allocate_scalar(name, nest::accumulation_of(where.producer, name), out);
  } else {
    allocate_array(name, indices, where, out);
  }
}

void KernelLowering::allocate_scalar(const std::string& name, nest::Accumulate accumulate,
                                     Emitter& out) {
  TensorCode& target = tensors_[name];
  target.scalar = out.declare(name, identity_of(accumulate, {nest_.tensor(name).type.type, 1}));
  const bool asked = (assembles() || told_from_zero_.contains(name)) &&
                     nest::starts_absent(accumulate) && !is_staged(name);
  if (asked) target.written = out.declare(name + "_written", IntConst::make(0, loop::kBool));
}

void KernelLowering::allocate_tracked(const std::string& name,
                                      const std::vector<std::string>& indices, Emitter& out) {
  TULLE_CHECK(!indices.empty(), "a tracked workspace without variables");
  TensorCode& target = tensors_[name];
  if (!target.tracked) {
    const expr::TensorType& type = nest_.tensor(name).type;
    const Expr extent = coordinates_.extent(indices[0]);
    auto arrays = std::make_unique<TrackedArrays>();
    for (size_t d = 1; d < indices.size(); ++d) {
      const Expr inner = coordinates_.extent(indices[d]);
      arrays->block = arrays->block ? arrays->block * inner : inner;
    }
    auto allocate = [&](const std::string& suffix, DType element, const Expr& size, bool zeroed,
                        loop::Buffer& buffer, Expr& base) {
      const Frame::Place place = frame_->allocate(name + suffix, element, size, zeroed, *hoisted_);
      buffer = place.buffer;
      if (frame_->on_gpu()) base = place.base;
    };
    // Counting takes the number of coordinates alone, unless rows are as long as their last one
    // says, or blocks may be empty or cut off before the place that is asked for.
    const auto* block = arrays->block ? arrays->block.as<IntConst>() : nullptr;
    const bool may_be_empty = arrays->block && (!block || block->value == 0);
    if (!assembly_.counts_alone() || may_be_empty || !tracks_entries(indices)) {
      allocate("_values", type.type, arrays->block ? extent * arrays->block : extent, true,
               arrays->values, arrays->values_base);
      allocate("_list", type.index_type, extent + 1, false, arrays->list, arrays->list_base);
    }
    allocate("_stamps", DType::Int32, extent, true, arrays->stamps, arrays->stamps_base);
    if (nest_.tensor(name).tracking == nest::Tensor::Tracking::Scanned) arrays->scanned = extent;
    arrays->count = hoisted_->declare(name + "_count", IntConst::make(0));
    arrays->round = hoisted_->declare(name + "_round", IntConst::make(0, {DType::Int32, 1}));
    target.values = arrays->values;
    target.base = arrays->values_base;
    target.levels.push_back(std::make_unique<TrackedLevel>(*arrays));
    for (size_t d = 1; d < indices.size(); ++d)
      target.levels.push_back(std::make_unique<DenseLevel>(coordinates_.extent(indices[d])));
    target.tracked = std::move(arrays);
  }
  begin_round(out, *target.tracked);
}

bool KernelLowering::tracks_entries(const std::vector<std::string>& indices) const {
  using Origin = nest::Variable::Origin;
  const nest::Variable& tracked = nest_.variable(indices[0]);
  if (tracked.origin == Origin::Source) return true;
  return tracked.origin == Origin::Outer &&
         std::any_of(indices.begin(), indices.end(), [&](const std::string& index) {
           const nest::Variable& inner = nest_.variable(index);
           return inner.origin == Origin::Inner && inner.parent == tracked.parent;
         });
}

bool KernelLowering::has_blocks(const std::string& tensor) const {
  const TensorCode& target = tensors_.at(tensor);
  return target.tracked && target.tracked->block;
}

const nest::Assign* KernelLowering::block_at(const nest::Stmt& stmt, const Scope& before,
                                             const Scope& scope) const {
  for (const nest::Assign* assign : nest::assigns(stmt)) {
    if (!has_blocks(assign->tensor)) continue;
    const std::string& tracked = assign->indices[0];
    if (coordinates_.coordinate(tracked, scope) && !coordinates_.coordinate(tracked, before))
      return assign;
  }
  return nullptr;
}

void KernelLowering::track_block(const nest::Assign& assign, const Scope& scope, Emitter& out,
                                 const Body& body) {
  const TrackedArrays& arrays = *code(assign.tensor).tracked;
  const loop::Type type{nest_.tensor(assign.tensor).type.type, 1};
  const Expr coordinate = coordinates_.coordinate(assign.indices[0], scope);
  Touch mine;
  mine.flag = loop::Var::make(names_.fresh("written"), loop::kBool);
  Scope inner = scope;
  inner.conditional = false;
  inner.touched = false;
  Emitter work = out.nested();
  {
    const Touches::Within within(touches_, &mine);
    body(inner, work);
  }
  if (!mine.always && !mine.sometimes) return;  // nothing is ever added here
  kernel_.has_conditional_entries |= !mine.always;
  const Expr is_new = begin_block(out, arrays, coordinate, identity_of(assign.accumulate, type));
  if (mine.sometimes) {
    out.add(loop::Declare::make(mine.flag.as<loop::Var>()->name, IntConst::make(0, loop::kBool)));
  }
  for (loop::Stmt& stmt : work.take_statements()) out.add(std::move(stmt));
  end_block(out, arrays, coordinate, is_new, mine.always ? Expr() : mine.flag);
}

void KernelLowering::allocate_array(const std::string& name,
                                    const std::vector<std::string>& indices,
                                    const nest::Where& where, Emitter& out) {
  TensorCode& target = tensors_[name];
  const nest::Accumulate accumulate = nest::accumulation_of(where.producer, name);
  if (assembles() && nest::starts_absent(accumulate) && !is_staged(name))
    target.written = out.declare(name + "_written", IntConst::make(0, loop::kBool));
  const DType element = nest_.tensor(name).type.type;
  target.levels.clear();
  Expr size = IntConst::make(1);
  for (const std::string& index : indices) {
    const Expr extent = extent_of_own(kernel_, where, index);
    size = size * extent;
    if (is_spread(where, index)) {
      target.levels.push_back(std::make_unique<SpreadLevel>());
    } else {
      target.levels.push_back(std::make_unique<DenseLevel>(extent));
    }
  }
  if (std::all_of(indices.begin(), indices.end(),
                  [&](const std::string& index) { return is_spread(where, index); })) {
    target.levels.clear();
    return allocate_scalar(name, accumulate, out);
  }
  if (is_bound()) size = loop::maximum(size, IntConst::make(1));
  const auto* constant_size = size.as<loop::IntConst>();
  const int64_t largest = frame_->on_gpu() ? nest::kLargestThreadLocal : nest::kLargestLocal;
  target.size = size;
  if (constant_size) target.elements = constant_size->value;
  const bool local = constant_size && constant_size->value > 0 && constant_size->value <= largest;
  if (local) {
    target.values = loop::make_buffer(names_.fresh(name), element, loop::Space::Local);
    target.base = {};  // where it was shared, another time
    // Vectors read whole ones of a copy, past its end too.
    out.add(loop::Allocate::make(target.values, size, is_staged(name)));
  } else if (!target.values) {
    const Frame::Place place = frame_->allocate(name, element, size, false, *hoisted_);
    target.values = place.buffer;
    if (frame_->on_gpu()) target.base = place.base;
  }
  if (phase_ == Phase::Count || is_staged(name)) return;

  const Expr start = mutant("workspace-wrong-zero") ? loop::constant({element, 1}, 1)
                                                    : identity_of(accumulate, {element, 1});
  out.add(for_own_elements(kernel_, where, indices, [&](const Expr& at) {
    return loop::Store::make(target.values, target.base ? target.base + at : at, start);
  }));
}

}  // namespace tulle::lower
