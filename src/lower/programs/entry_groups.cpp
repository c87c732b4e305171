// Numbers groups with scans.
#include "lower/programs/entry_groups.h"

#include <functional>

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Buffer;
using loop::Expr;
using loop::IntConst;

namespace {

Expr either(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Or, a, b); }
Expr divided(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Div, a, b); }

}  // namespace

std::pair<Expr, Expr> Groups::around(Emitter& out, const Expr& place) const {
  const Expr next = out.let("next_group", element(number, place + 1));
  return {out.let("first_place", element(begins, next - 1)),
          out.let("end_place", element(begins, next))};
}

const Groups& EntryGroups::of(const Grouping& wanted) {
  if (const auto found = groups_.find(wanted); found != groups_.end()) return found->second;
  entries_.declare_width(wanted.ranges);
  const size_t count = groups_.size();
  const Expr size = entries_.count() + 1;
  const Groups groups{entries_.allocate(concat("number", count), entries_.index_type(), size),
                      entries_.allocate(concat("begins_of", count), entries_.index_type(), size)};
  mark(wanted, groups);
  entries_.scan(groups.number);
  begin(groups);
  return groups_[wanted] = groups;
}

void EntryGroups::mark(const Grouping& wanted, const Groups& groups) {
  entries_.each("mark_groups", [&](Emitter& out, const Expr& place) {
    const Expr entry = entries_.entry_at(out, wanted.height, place);
    const Expr last = out.let("last", loop::maximum(place - 1, IntConst::make(0)));
    const Expr before = entries_.entry_at(out, wanted.height, last);
    const Expr is_first = either(place == IntConst::make(0), are_apart(wanted, before, entry));
    out.store(groups.number, place, loop::Cast::make(entries_.index_type(), is_first));
  });
}

void EntryGroups::begin(const Groups& groups) {
  const DType index_type = entries_.index_type();
  const Expr& count = entries_.count();
  entries_.each("begin_groups", [&](Emitter& out, const Expr& place) {
    const Expr number = out.let("number_here", element(groups.number, place));
    const Expr next = out.let("number_next", element(groups.number, place + 1));
    Emitter begins = out.nested(), ends = out.nested();
    begins.store(groups.begins, number, loop::Cast::make(index_type, place));
    ends.store(groups.begins, next, loop::Cast::make(index_type, count));
    out.add(loop::If::make(number < next, begins.take()));
    out.add(loop::If::make(place == count - 1, ends.take()));
  });
}

Expr EntryGroups::are_apart(const Grouping& grouping, const Expr& one, const Expr& other) const {
  Expr apart;
  const auto compare = [&](const std::function<Expr(const Expr&)>& of) {
    const Expr different = of(one) != of(other);
    apart = apart ? either(apart, different) : different;
  };
  const Expr width = IntConst::make(grouping.width);
  compare([&](const Expr& entry) { return entries_.window(grouping.height, entry); });
  const std::vector<Buffer>& crd = entries_.coordinates();
  for (size_t d = 0; d + 2 < crd.size() && !mutant("select-mixes-batch"); ++d)
    compare([&](const Expr& entry) { return element(crd[d], entry); });
  if (grouping.ranges > 1)
    compare([&](const Expr& entry) { return entries_.range(grouping.ranges, entry); });
  if (grouping.width > 0)
    compare([&](const Expr& entry) { return divided(entries_.column(entry), width); });
  return apart;
}

}  // namespace tulle::lower
