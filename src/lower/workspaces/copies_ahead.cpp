// The layout and rotation of copies for later iterations.
//
// With a depth of n, iteration t loads the copy for iteration t + n - 1. The first n - 1 copies are
// made before the loop. In registers, the current iteration uses the first of n arrays, and all
// arrays move up by one after each iteration. In shared memory the copies take turns. A thread
// keeps loaded elements in registers until the iteration ends, so that the iteration does not wait
// for the loads. After the barrier at the beginning of an iteration its copy is complete. No thread
// uses the previous copy any more, so the next copy overwrites it.
#include "lower/workspaces/copies_ahead.h"

#include "lower/workspaces/own_elements.h"
#include "nest/staging.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

// elements that a thread keeps in registers until it stores them
constexpr int64_t kMostArriving = 32;

}  // namespace

std::vector<Ahead> CopiesAhead::begin(const nest::Forall& loop, const KernelScope& scope,
                                      Emitter& out) {
  std::vector<Ahead> all;
  if (kernel_.phase == Phase::Count || loop.tag.is_bound()) return all;
  for (nest::Stmt stmt = loop.body; const auto* where = stmt.as<nest::Where>();
       stmt = where->consumer) {
    if (!nest::is_staging(*where, kernel_.nest)) break;
    const std::string& name = where->workspaces.front();
    const nest::Tensor& tensor = kernel_.nest.tensor(name);
    // A copy of a copy is made where the first copy is complete.
    const nest::Assign& assign = *nest::assigns(where->producer).front();
    const std::string& source = assign.value.as<expr::Access>()->tensor;
    if (tensor.depth == 1 || kernel_.nest.tensor(source).staging != nest::Tensor::Staging::None)
      continue;
    Ahead ahead{.where = where, .depth = tensor.depth, .indices = assign.indices};
    if (tensor.staging == nest::Tensor::Staging::Shared) {
      ahead.shared = shared_.allocate(*where, scope.thread);
      if (ahead.shared.size == 0) continue;
      ahead.slot = out.declare(name + "_slot", IntConst::make(0));
      ahead.base = scope.thread.in_warp ? scope.thread.warp * ahead.shared.size : IntConst::make(0);
      kernel_.tensors.at(name).base = ahead.slot * ahead.shared.stride + ahead.base;
    } else if (!keep_in_registers(ahead, out)) {
      continue;
    }
    kernel_.tensors.at(name).is_ahead = true;
    all.push_back(std::move(ahead));
  }
  return all;
}

bool CopiesAhead::keep_in_registers(Ahead& ahead, Emitter& out) {
  const std::string& name = ahead.where->workspaces.front();
  workspaces_.allocate(*ahead.where, name, out);
  const TensorCode& target = kernel_.tensors.at(name);
  const DType element = kernel_.nest.tensor(name).type.type;
  if (target.scalar) {
    ahead.scalars.push_back(target.scalar);
    while (ahead.scalars.size() < static_cast<size_t>(ahead.depth))
      ahead.scalars.push_back(out.declare(name, loop::constant({element, 1}, 0)));
    return true;
  }
  if (target.values->space != loop::Space::Local) return false;  // an empty copy
  ahead.buffers.push_back(target.values);
  while (ahead.buffers.size() < static_cast<size_t>(ahead.depth)) {
    const loop::Buffer more =
        loop::make_buffer(kernel_.names.fresh(name), element, loop::Space::Local);
    // Zeroed, because moving up also reads elements that no iteration uses.
    out.add(loop::Allocate::make(more, IntConst::make(target.elements), true));
    ahead.buffers.push_back(more);
  }
  return true;
}

loop::Stmt CopiesAhead::around(const std::vector<Ahead>& all, const Counter& counter,
                               loop::Stmt body, Emitter& out) {
  if (all.empty()) return body;
  const Expr now = loop::Var::make(counter.name);
  Emitter before = out.nested(), after = out.nested();
  for (Ahead ahead : all) {
    if (ahead.slot)
      out.add(SharedCopies::barrier_of(ahead.shared));  // until an earlier run of the loop is done
    for (int slot = 0; slot + 1 < ahead.depth; ++slot) {
      const Expr at = counter.begin + slot * counter.step;
      Emitter first = out.nested();
      copy_into(ahead, slot, counter, at, first);
      out.add(loop::If::make(at < counter.end, first.take()));
    }
    if (ahead.slot && !mutant("stage-without-barrier"))
      before.add(SharedCopies::barrier_of(ahead.shared));
    if (ahead.slot && ahead.shared.rounds <= kMostArriving) await(ahead, before);
    const Expr at = before.let("ahead", now + (ahead.depth - 1) * counter.step);
    Emitter next = out.nested();
    copy_into(ahead, ahead.depth - 1, counter, at, next);
    before.add(loop::If::make(at < counter.end, next.take()));
    if (!mutant("stage-stale-buffer")) move_up(ahead, at < counter.end, after);
    kernel_.tensors.at(ahead.where->workspaces.front()).is_ahead = false;
  }
  for (loop::Stmt& stmt : after.take_statements()) {
    if (body) before.add(std::move(body));
    body = {};
    before.add(std::move(stmt));
  }
  return before.take();
}

// Allocates the registers for elements that a thread has loaded but not stored.
void CopiesAhead::await(Ahead& ahead, Emitter& out) {
  const std::string& name = ahead.where->workspaces.front();
  const DType element = kernel_.nest.tensor(name).type.type;
  ahead.arriving =
      loop::make_buffer(kernel_.names.fresh(name + "_arriving"), element, loop::Space::Local);
  out.add(loop::Allocate::make(ahead.arriving, IntConst::make(ahead.shared.rounds), true));
}

// Slot 0 is the current copy.
void CopiesAhead::copy_into(const Ahead& ahead, int slot, const Counter& counter, const Expr& at,
                            Emitter& out) {
  const nest::Stmt loop = nest::Forall::make(counter.var, ahead.where->producer);
  TensorCode& target = kernel_.tensors.at(ahead.where->workspaces.front());
  const loop::Buffer values = target.values;
  const Expr scalar = target.scalar;
  if (!ahead.buffers.empty()) target.values = ahead.buffers[static_cast<size_t>(slot)];
  if (!ahead.scalars.empty()) target.scalar = ahead.scalars[static_cast<size_t>(slot)];
  counter.visit(*loop.as<nest::Forall>(), at, out, [&](const KernelScope& scope, Emitter& inside) {
    if (!ahead.slot) return statements_.lower(ahead.where->producer, scope, inside);
    const Expr base = inside.let("place", place_of(ahead, slot));
    inside.add(shared_.for_elements(
        ahead.shared, [&](const Expr& element, const Expr& round, Emitter& one) {
          elements_.load(*ahead.shared.assign, element, scope, one,
                         [&](const Expr& value, Emitter& put) {
                           if (ahead.arriving) return put.store(ahead.arriving, round, value);
                           put.store(values, base + element, value);
                         });
        }));
  });
  target.values = values;
  target.scalar = scalar;
}

Expr CopiesAhead::place_of(const Ahead& ahead, int slot) {
  const Expr number = Binary::make(BinaryOp::Mod, ahead.slot + slot, IntConst::make(ahead.depth));
  return number * ahead.shared.stride + ahead.base;
}

// Moves to the next copy at the end of an iteration.
void CopiesAhead::move_up(const Ahead& ahead, const Expr& is_loaded, Emitter& out) {
  for (size_t slot = 0; slot + 1 < ahead.scalars.size(); ++slot)
    out.assign(ahead.scalars[slot], ahead.scalars[slot + 1]);
  for (size_t slot = 0; slot + 1 < ahead.buffers.size(); ++slot) {
    out.add(OwnElements{*ahead.where, ahead.indices}.for_each(kernel_, [&](const Expr& at) {
      return loop::Store::make(ahead.buffers[slot], at,
                               loop::Load::make(ahead.buffers[slot + 1], at));
    }));
  }
  if (!ahead.slot) return;
  if (ahead.arriving) {
    Emitter store = out.nested();
    const Expr base = store.let("place", place_of(ahead, ahead.depth - 1));
    const loop::Buffer& values = kernel_.tensors.at(ahead.where->workspaces.front()).values;
    store.add(shared_.for_elements(
        ahead.shared, [&](const Expr& element, const Expr& round, Emitter& one) {
          one.store(values, base + element, loop::Load::make(ahead.arriving, round));
        }));
    out.add(loop::If::make(is_loaded, store.take()));
  }
  out.assign(ahead.slot, Binary::make(BinaryOp::Mod, ahead.slot + 1, IntConst::make(ahead.depth)));
}

}  // namespace tulle::lower
