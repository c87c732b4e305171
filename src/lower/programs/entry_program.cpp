// Computes coordinates and orders of entries.
#include "lower/programs/entry_program.h"

#include <algorithm>

#include "lower/programs/for_each.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Buffer;
using loop::Expr;
using loop::IntConst;

namespace {

Expr divided(const Expr& a, const Expr& b) { return loop::Binary::make(loop::BinaryOp::Div, a, b); }
std::string width_name(int64_t ranges) { return concat("width_of_", ranges); }

}  // namespace

Expr element(const Buffer& buffer, const Expr& at) {
  return loop::Cast::make(DType::Int64, loop::Load::make(buffer, at));
}

EntryProgram::EntryProgram(const std::string& name, int rank, DType index_type,
                           const Options& options)
    : index_type_(index_type), options_(options) {
  program_.name = name;
  for (int d = 0; d < rank; ++d) {
    crd_.push_back(loop::make_buffer(concat("crd", d), index_type_));
    program_.buffers.push_back({crd_.back(), false});
  }
  program_.scalars = {{"count", loop::kIndex}, {"columns", loop::kIndex}};
}

Buffer EntryProgram::allocate(const std::string& name, DType element, const Expr& size) {
  Buffer buffer = loop::make_buffer(name, element);
  program_.steps.emplace_back(loop::AllocateStep{buffer, size, false});
  return buffer;
}

void EntryProgram::each(const std::string& name,
                        const std::function<void(Emitter&, const Expr&)>& body) {
  launch(concat(name, kernels_++), count_, body);
}

void EntryProgram::launch(const std::string& name, const Expr& count,
                          const std::function<void(Emitter&, const Expr&)>& body) {
  launch_each({name, count, body}, options_, program_);
}

void EntryProgram::scan(const Buffer& buffer) {
  program_.steps.emplace_back(loop::ScanStep{buffer, count_});
}

Expr EntryProgram::row(const Expr& entry) const { return element(crd_[crd_.size() - 2], entry); }
Expr EntryProgram::column(const Expr& entry) const { return element(crd_.back(), entry); }

Expr EntryProgram::window(int64_t height, const Expr& entry) const {
  return divided(mutant("select-window-shifted") ? row(entry) + 1 : row(entry),
                 IntConst::make(height));
}

Expr EntryProgram::range(int64_t ranges, const Expr& entry) const {
  const Expr number = divided(column(entry), loop::Var::make(width_name(ranges)));
  return mutant("select-range-too-early")
             ? loop::minimum(number, IntConst::make(std::max<int64_t>(0, ranges - 2)))
             : number;
}

void EntryProgram::declare_width(int64_t ranges) {
  if (ranges == 1 || !widths_.insert(ranges).second) return;
  const Expr width = loop::ceil_divide(columns_, ranges);
  program_.steps.emplace_back(
      loop::LetStep{width_name(ranges), loop::maximum(IntConst::make(1), width)});
}

void EntryProgram::order_by(int64_t height) {
  if (height == 1 || orders_.contains(height)) return;
  const size_t number = orders_.size();
  const Buffer windows = allocate(concat("window", number), index_type_, count_);
  const Buffer order = allocate(concat("by_window", number), DType::Int64, count_);
  each("find_windows", [&](Emitter& out, const Expr& entry) {
    out.store(windows, entry, loop::Cast::make(index_type_, window(height, entry)));
  });
  std::vector<Buffer> keys = crd_;
  keys[keys.size() - 2] = windows;
  program_.steps.emplace_back(loop::SortStep{order, keys, count_});
  orders_[height] = order;
}

Expr EntryProgram::entry_at(Emitter& out, int64_t height, const Expr& place) const {
  return height == 1 ? place : out.let("entry", loop::Load::make(orders_.at(height), place));
}

}  // namespace tulle::lower
