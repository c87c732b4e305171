// Selecting entries by scans and sorts. An entry knows the part that it has, or that it has none
// yet. What a selector counts lies together, in the order of the entries or in that of windows of
// rows, so that a scan over those that are left answers for every row, block or window how many
// there are.
#include "lower/select_parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lower/each.h"
#include "lower/search.h"
#include "lower/selection_rounds.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Buffer;
using loop::Expr;
using loop::IntConst;
using loop::Load;

namespace {

// Entries that are counted together: of one window of rows, one column range and, where `width` is
// not 0, so many columns.
struct Grouping {
  int64_t height = 1, ranges = 1, width = 0;
  auto operator<=>(const Grouping&) const = default;
};

// Places in the order of a height, group by group: those of group g are [begins[g], begins[g + 1]),
// and number[place + 1] - 1 is the group of a place.
struct Groups {
  Buffer number, begins;
};

Expr either(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Or, a, b); }
Expr divided(const Expr& a, const Expr& b) { return Binary::make(BinaryOp::Div, a, b); }
Expr real(const Expr& a) { return loop::Cast::make(DType::Float64, a); }
Expr real(double a) { return loop::FloatConst::make(a, {DType::Float64, 1}); }
Expr element(const Buffer& buffer, const Expr& at) {
  return loop::Cast::make(DType::Int64, Load::make(buffer, at));
}

class Selecting {
 public:
  Selecting(const CompositeFormat& format, DType index_type, Backend backend)
      : format_(format), index_type_(index_type), backend_(backend) {}

  loop::HostProgram write() {
    program_.name = "select_parts";
    for (int d = 0; d < format_.rank(); ++d) {
      crd_.push_back(loop::make_buffer(concat("crd", d), index_type_));
      program_.buffers.push_back({crd_.back(), false});
    }
    program_.scalars = {{"count", loop::kIndex}, {"columns", loop::kIndex}};
    begin();
    for (const Round& round : selection_rounds(format_)) give(round);
    hand_out();
    free_temporaries(program_);
    return std::move(program_);
  }

 private:
  int64_t parts() const { return static_cast<int64_t>(format_.parts().size()); }
  // What stands for the part of an entry that has none yet.
  Expr none() const { return IntConst::make(parts(), kPartType); }

  // What lies outside of the tensor never has one.
  void begin() {
    part_of_ = allocate("part_of", kPartType.scalar, count_);
    each("begin", [&](Emitter& out, const Expr& entry) {
      const Expr at = out.let("column", column(entry));
      const Expr is_inside = both(IntConst::make(0) <= at, at < columns_);
      out.store(part_of_, entry,
                loop::Select::make(is_inside, none(), IntConst::make(parts() + 1, kPartType)));
    });
  }

  void give(const Round& round) {
    const Choice& head = round.front();
    const int64_t height = head.selector.height();
    order_by(height);
    const std::optional<Groups> counted = counted_by(head);
    if (counted) count_left(height);
    const bool with_columns = head.selector.kind == Selector::Kind::Windows;
    if (with_columns) count_columns({height, head.ranges, 1});
    for (const Choice& choice : round) declare_width(choice.ranges);
    each("give", [&](Emitter& out, const Expr& place) {
      const Expr entry = entry_at(out, height, place);
      Expr left, different;
      if (counted) {
        const auto [first, end] = group_of(out, *counted, place);
        left = out.let("left_here", element(left_, end) - element(left_, first));
        if (with_columns) different = element(different_, end) - element(different_, first);
      }
      const Expr part = out.declare("part", Load::make(part_of_, entry));
      for (const Choice& choice : round) {
        Emitter taken = out.nested();
        taken.assign(part, part_number(choice, entry));
        const Expr is_taken = condition(choice.selector, entry, left, different);
        out.add(loop::If::make(both(part == none(), is_taken), taken.take()));
      }
      out.store(part_of_, entry, part);
    });
  }

  // Whether the selector takes the entry, with `left` entries left where it counts them, in
  // `different` columns.
  Expr condition(const Selector& selector, const Expr& entry, const Expr& left,
                 const Expr& different) const {
    const Expr first = IntConst::make(selector.first), second = IntConst::make(selector.second);
    const auto diagonal = [&] { return column(entry) - row(entry); };
    switch (selector.kind) {
      case Selector::Kind::Rows:
        return selector.at_least && !mutant("select-least-as-most") ? first <= left : left <= first;
      case Selector::Kind::Columns:
        return both(first <= column(entry), column(entry) < second);
      case Selector::Kind::Band:
        return both(first <= diagonal(),
                    diagonal() <= (mutant("select-band-too-wide") ? second + 1 : second));
      case Selector::Kind::Blocks:
        return real(selector.threshold * static_cast<double>(selector.first) *
                    static_cast<double>(selector.second)) <= real(left);
      case Selector::Kind::Windows:
        return real(selector.threshold) * real(different) <= real(left);
      case Selector::Kind::Rest:
        return IntConst::make(1, loop::kBool);
    }
    internal_error("a selector of no kind");
  }

  Expr part_number(const Choice& choice, const Expr& entry) const {
    const Expr first = IntConst::make(choice.part);
    const Expr number =
        choice.ranges == 1 ? first : first + range(choice.ranges, entry) * choice.step;
    return loop::Cast::make(kPartType.scalar, number);
  }

  // The entries sorted by their parts.
  void hand_out() {
    const Buffer order = allocate("order", DType::Int64, count_);
    const Buffer begins = allocate("begins", DType::Int64, IntConst::make(parts() + 1));
    program_.results = {order, begins};
    program_.steps.emplace_back(loop::SortStep{order, {part_of_}, count_});
    const auto find = [&](Emitter& out, const Expr& part) {
      const auto part_at = [&](const Expr& place) {
        return element(part_of_, Load::make(order, place));
      };
      out.store(begins, part, emit_first_by_halves(out, count_, part_at, part));
    };
    launch_each("find_begins", IntConst::make(parts() + 1), find, program_, backend_);
  }

  // --- counting ---

  // What the selector counts, or nothing.
  std::optional<Groups> counted_by(const Choice& choice) {
    const Selector& selector = choice.selector;
    if (looks_at_entry_alone(selector)) return std::nullopt;
    const bool in_blocks = selector.kind == Selector::Kind::Blocks;
    const int64_t width = selector.second * (mutant("select-block-with-next") ? 2 : 1);
    return groups_of({selector.height(), choice.ranges, in_blocks ? width : 0});
  }

  // left_[place] becomes how many of the entries at places before it have no part.
  void count_left(int64_t height) {
    if (!left_) left_ = allocate("left", index_type_, count_ + 1);
    each("mark_left", [&](Emitter& out, const Expr& place) {
      const Expr entry = entry_at(out, height, place);
      const Expr is_left = mutant("select-counts-taken") ? IntConst::make(1, loop::kBool)
                                                         : Load::make(part_of_, entry) == none();
      out.store(left_, place, flag(is_left));
    });
    program_.steps.emplace_back(loop::ScanStep{left_, count_});
  }

  // different_[place] becomes how many groups, of one column each, that have such entries begin at
  // places before it.
  void count_columns(const Grouping& of_columns) {
    const Groups groups = groups_of(of_columns);
    if (!different_) different_ = allocate("different", index_type_, count_ + 1);
    each("mark_columns", [&](Emitter& out, const Expr& place) {
      const auto [first, end] = group_of(out, groups, place);
      const Expr left = element(left_, end) - element(left_, first);
      out.store(different_, place, flag(both(first == place, IntConst::make(0) < left)));
    });
    program_.steps.emplace_back(loop::ScanStep{different_, count_});
  }

  // The places [first, second) of the group that the place is in.
  static std::pair<Expr, Expr> group_of(Emitter& out, const Groups& groups, const Expr& place) {
    const Expr next = out.let("next_group", element(groups.number, place + 1));
    return {out.let("first_place", element(groups.begins, next - 1)),
            out.let("end_place", element(groups.begins, next))};
  }

  // Numbers the groups, unless that is done.
  const Groups& groups_of(const Grouping& wanted) {
    if (const auto found = groups_.find(wanted); found != groups_.end()) return found->second;
    declare_width(wanted.ranges);
    const size_t count = groups_.size();
    const Groups groups{allocate(concat("number", count), index_type_, count_ + 1),
                        allocate(concat("begins_of", count), index_type_, count_ + 1)};
    each("mark_groups", [&](Emitter& out, const Expr& place) {
      const Expr entry = entry_at(out, wanted.height, place);
      const Expr last = out.let("last", loop::maximum(place - 1, IntConst::make(0)));
      const Expr before = entry_at(out, wanted.height, last);
      out.store(groups.number, place,
                flag(either(place == IntConst::make(0), are_apart(wanted, before, entry))));
    });
    program_.steps.emplace_back(loop::ScanStep{groups.number, count_});
    each("begin_groups", [&](Emitter& out, const Expr& place) {
      const Expr number = out.let("number_here", element(groups.number, place));
      const Expr next = out.let("number_next", element(groups.number, place + 1));
      Emitter begins = out.nested(), ends = out.nested();
      begins.store(groups.begins, number, loop::Cast::make(index_type_, place));
      ends.store(groups.begins, next, loop::Cast::make(index_type_, count_));
      out.add(loop::If::make(number < next, begins.take()));
      out.add(loop::If::make(place == count_ - 1, ends.take()));
    });
    return groups_[wanted] = groups;
  }

  // Whether two entries are of different groups.
  Expr are_apart(const Grouping& grouping, const Expr& one, const Expr& other) const {
    Expr apart;
    const auto compare = [&](const std::function<Expr(const Expr&)>& of) {
      const Expr different = of(one) != of(other);
      apart = apart ? either(apart, different) : different;
    };
    const Expr width = IntConst::make(grouping.width);
    compare([&](const Expr& entry) { return window(grouping.height, entry); });
    for (size_t d = 0; d + 2 < crd_.size() && !mutant("select-mixes-batch"); ++d)
      compare([&](const Expr& entry) { return element(crd_[d], entry); });
    if (grouping.ranges > 1)
      compare([&](const Expr& entry) { return range(grouping.ranges, entry); });
    if (grouping.width > 0)
      compare([&](const Expr& entry) { return divided(column(entry), width); });
    return apart;
  }

  // --- where entries are ---

  Expr row(const Expr& entry) const { return element(crd_[crd_.size() - 2], entry); }
  Expr column(const Expr& entry) const { return element(crd_.back(), entry); }
  // The number of the window of so many rows.
  Expr window(int64_t height, const Expr& entry) const {
    return divided(mutant("select-window-shifted") ? row(entry) + 1 : row(entry),
                   IntConst::make(height));
  }
  // The number of the column range; its width is declared.
  Expr range(int64_t ranges, const Expr& entry) const {
    const Expr number = divided(column(entry), loop::Var::make(width_name(ranges)));
    return mutant("select-range-too-early")
               ? loop::minimum(number, IntConst::make(std::max<int64_t>(0, ranges - 2)))
               : number;
  }

  static std::string width_name(int64_t ranges) { return concat("width_of_", ranges); }
  void declare_width(int64_t ranges) {
    if (ranges == 1 || !widths_.insert(ranges).second) return;
    const Expr width = loop::ceil_divide(columns_, ranges);
    program_.steps.emplace_back(
        loop::LetStep{width_name(ranges), loop::maximum(IntConst::make(1), width)});
  }

  // The entries by windows of so many rows and, in each, by columns. Windows of one row are in that
  // order.
  void order_by(int64_t height) {
    if (height == 1 || orders_.contains(height)) return;
    const size_t count = orders_.size();
    const Buffer windows = allocate(concat("window", count), index_type_, count_);
    const Buffer order = allocate(concat("by_window", count), DType::Int64, count_);
    each("find_windows", [&](Emitter& out, const Expr& entry) {
      out.store(windows, entry, loop::Cast::make(index_type_, window(height, entry)));
    });
    std::vector<Buffer> keys = crd_;
    keys[keys.size() - 2] = windows;
    program_.steps.emplace_back(loop::SortStep{order, keys, count_});
    orders_[height] = order;
  }

  // The entry at a place of that order.
  Expr entry_at(Emitter& out, int64_t height, const Expr& place) const {
    return height == 1 ? place : out.let("entry", Load::make(orders_.at(height), place));
  }

  // --- the program ---

  Expr flag(const Expr& condition) const { return loop::Cast::make(index_type_, condition); }

  Buffer allocate(const std::string& name, DType element, const Expr& size) {
    Buffer buffer = loop::make_buffer(name, element);
    program_.steps.emplace_back(loop::AllocateStep{buffer, size, false});
    return buffer;
  }

  void each(const std::string& name, const std::function<void(Emitter&, const Expr&)>& body) {
    launch_each(concat(name, kernels_++), count_, body, program_, backend_);
  }

  static constexpr loop::Type kPartType{DType::Int32, 1};

  const CompositeFormat& format_;
  const DType index_type_;
  const Backend backend_;
  const Expr count_ = loop::Var::make("count"), columns_ = loop::Var::make("columns");
  loop::HostProgram program_;
  std::vector<Buffer> crd_;
  Buffer part_of_, left_, different_;
  std::map<int64_t, Buffer> orders_;  // by height
  std::map<Grouping, Groups> groups_;
  std::set<int64_t> widths_;  // declared
  int kernels_ = 0;
};

}  // namespace

loop::HostProgram select_parts(const CompositeFormat& format, DType index_type, Backend backend) {
  return Selecting(format, index_type, backend).write();
}

}  // namespace tulle::lower
