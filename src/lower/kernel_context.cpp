// Declares the tensors of a kernel and loops over a thread's elements of a workspace.
#include "lower/kernel_context.h"

#include <utility>

#include "lower/storage.h"
#include "nest/bound_loops.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

KernelContext::KernelContext(const nest::Nest& n, KernelRequest r)
    : nest(n), request(std::move(r)), coordinates(n), is_bound_(nest::has_bound_loops(nest.root)) {
  find_result();
  declare_tensors();
}

void KernelContext::find_result() {
  for (const nest::Assign* assign : nest::assigns(nest.root)) {
    if (nest.tensor(assign->tensor).role != nest::Tensor::Role::Result) continue;
    TULLE_CHECK(result.empty() || result == assign->tensor, "one result a nest");
    result = assign->tensor;
    result_indices = assign->indices;
  }
  TULLE_CHECK(!result.empty(), "a nest without a result");
}

void KernelContext::declare_tensors() {
  chunks = loop::Var::make(names.fresh(chunks_name(result)));
  for (const auto& [name, variable] : nest.variables) names.fresh(extent_name(name));
  for (const auto& [name, tensor] : nest.tensors) {
    if (tensor.role == nest::Tensor::Role::Workspace) continue;
    names.fresh(name);
    names.fresh(count_name(name));
    names.fresh(stored_name(name));
    if (!tensor.onto.empty()) names.fresh(tensor.onto);
    // A schedule may call a workspace like an array.
    const TensorBuffers arrays = buffers_of(name, tensor.type);
    for (const auto* level_arrays : {&arrays.pos, &arrays.crd}) {
      for (const loop::Buffer& array : *level_arrays) {
        if (array) names.fresh(array->name);
      }
    }
    tensors[name].values = buffers_of(tensor.onto.empty() ? name : tensor.onto, tensor.type).values;
  }
  for (const nest::Assign* assign : nest::assigns(nest.root)) {
    declare_levels(assign->tensor, assign->indices);
    for (const expr::Access* access : expr::accesses(assign->value))
      declare_levels(access->tensor, access->indices);
  }
}

// Levels take extents from the indices of any access, because a tensor has the same extents in all
// of them.
void KernelContext::declare_levels(const std::string& name,
                                   const std::vector<std::string>& indices) {
  const nest::Tensor& tensor = nest.tensor(name);
  TensorCode& target = tensors[name];
  if (tensor.role == nest::Tensor::Role::Workspace || !target.levels.empty()) return;
  const TensorBuffers buffers = buffers_of(name, tensor.type);
  for (size_t l = 0; l < buffers.pos.size(); ++l) {
    const Level& level = tensor.type.format.levels()[l];
    LevelArrays arrays{
        buffers.pos[l], buffers.crd[l], coordinates.level_extent(level.expr, indices), {}};
    for (const Level& outer : tensor.type.format.levels()) {
      if (!outer.expr.is_difference() || outer.expr.second != level.expr.dimension) continue;
      arrays.second = coordinates.extent(indices[static_cast<size_t>(outer.expr.dimension)]);
    }
    target.levels.push_back(make_level_code(level, arrays));
  }
}

const Level& KernelContext::level(const Cursor& cursor) const {
  return nest.tensor(cursor.access->tensor).type.format.levels()[static_cast<size_t>(cursor.level)];
}

const LevelCode& KernelContext::level_code(const Cursor& cursor) const {
  return *code(cursor.access->tensor).levels[static_cast<size_t>(cursor.level)];
}

bool KernelContext::is_staged(const std::string& workspace) const {
  return nest.tensor(workspace).staging != nest::Tensor::Staging::None;
}

namespace {

int64_t operations_of(const expr::Expr& value) {
  int64_t operations = 1;
  for (const expr::Expr& child : expr::children(value)) operations += operations_of(child);
  return operations;
}

}  // namespace

void KernelContext::count_operations(const expr::Expr& value) {
  count_operations(operations_of(value));
}

void KernelContext::count_operations(int64_t operations) {
  if (has_one_body()) return;
  operations_ += operations;
  if (operations_ <= options().bodies.most_operations) return;
  // A long expression may exceed the limit without a lattice.
  int64_t written = 0;
  for (const nest::Assign* assign : nest::assigns(nest.root))
    written += operations_of(assign->value);
  if (operations_ > written * options().bodies.most_copies) require_one_body();
}

void KernelContext::require_one_body() const {
  if (!has_one_body()) throw TooManyBodies();
}

void KernelContext::for_elements(
    const std::string& workspace, Emitter& out,
    const std::function<void(const Expr&, const Expr&, Emitter&)>& body) {
  const TensorCode& target = tensors.at(workspace);
  if (target.scalar) return body(IntConst::make(0), target.scalar, out);
  const std::string name = names.fresh("element");
  const Expr element = loop::Var::make(name);
  const Expr at = target.base ? target.base + element : element;
  Emitter inside = out.nested();
  body(element, loop::Load::make(target.values, at), inside);
  const bool registers = is_bound() && target.values->space == loop::Space::Local;
  out.add(loop::For::make(name, IntConst::make(0), target.size, inside.take(),
                          registers ? loop::ForKind::Unrolled : loop::ForKind::Serial));
}

}  // namespace tulle::lower
