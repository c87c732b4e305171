// Selects entries with scans and sorts. Each entry stores its part, or a mark for none. A selector
// counts entries at consecutive places: in the order of the entries, or in the order of windows of
// rows. So a scan over the remaining entries gives the number in each row, block or window.
#include "lower/programs/select_parts.h"

#include <algorithm>
#include <optional>

#include "lower/levels/search.h"
#include "lower/programs/entry_groups.h"
#include "lower/programs/free_temporaries.h"
#include "lower/programs/selection_rounds.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Buffer;
using loop::Expr;
using loop::IntConst;
using loop::Load;

namespace {

Expr real(const Expr& a) { return loop::Cast::make(DType::Float64, a); }
Expr real(double a) { return loop::FloatConst::make(a, {DType::Float64, 1}); }

class Selecting {
 public:
  Selecting(const CompositeFormat& format, DType index_type, const Options& options)
      : format_(format), entries_("select_parts", format.rank(), index_type, options) {}

  loop::HostProgram write() {
    begin();
    for (const Round& round : selection_rounds(format_)) give(round);
    hand_out();
    free_temporaries(entries_.program());
    return std::move(entries_.program());
  }

 private:
  int64_t parts() const { return static_cast<int64_t>(format_.parts().size()); }
  // The mark of an entry without a part.
  Expr none() const { return IntConst::make(parts(), kPartType); }

  // Entries outside of the tensor never get a part.
  void begin() {
    part_of_ = entries_.allocate("part_of", kPartType.scalar, entries_.count());
    entries_.each("begin", [&](Emitter& out, const Expr& entry) {
      const Expr at = out.let("column", entries_.column(entry));
      const Expr is_inside = both(IntConst::make(0) <= at, at < entries_.columns());
      out.store(part_of_, entry,
                loop::Select::make(is_inside, none(), IntConst::make(parts() + 1, kPartType)));
    });
  }

  void give(const Round& round) {
    const Choice& head = round.front();
    const int64_t height = head.selector.height();
    entries_.order_by(height);
    const std::optional<Groups> counted = counted_by(head);
    if (counted) count_left(height);
    const bool with_columns = head.selector.kind == Selector::Kind::Windows;
    if (with_columns) count_columns({height, head.ranges, 1});
    for (const Choice& choice : round) entries_.declare_width(choice.ranges);
    entries_.each("give", [&](Emitter& out, const Expr& place) {
      const Expr entry = entries_.entry_at(out, height, place);
      Expr left, different;
      if (counted) {
        const auto [first, end] = counted->around(out, place);
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

  // Whether the selector takes the entry. `left` is the number of remaining entries in its group,
  // and `different` the number of columns with such entries.
  Expr condition(const Selector& selector, const Expr& entry, const Expr& left,
                 const Expr& different) const {
    const Expr first = IntConst::make(selector.first), second = IntConst::make(selector.second);
    const auto diagonal = [&] { return entries_.column(entry) - entries_.row(entry); };
    switch (selector.kind) {
      case Selector::Kind::Rows:
        return selector.at_least && !mutant("select-least-as-most") ? first <= left : left <= first;
      case Selector::Kind::Columns:
        return both(first <= entries_.column(entry), entries_.column(entry) < second);
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
        choice.ranges == 1 ? first : first + entries_.range(choice.ranges, entry) * choice.step;
    return loop::Cast::make(kPartType.scalar, number);
  }

  // Sorts the entries by their parts.
  void hand_out() {
    const Buffer order = entries_.allocate("order", DType::Int64, entries_.count());
    const Buffer begins = entries_.allocate("begins", DType::Int64, IntConst::make(parts() + 1));
    entries_.program().results = {order, begins};
    entries_.program().steps.emplace_back(loop::SortStep{order, {part_of_}, entries_.count()});
    const auto find = [&](Emitter& out, const Expr& part) {
      const auto part_at = [&](const Expr& place) {
        return element(part_of_, Load::make(order, place));
      };
      out.store(begins, part, emit_first_by_halves(out, entries_.count(), part_at, part));
    };
    entries_.launch("find_begins", IntConst::make(parts() + 1), find);
  }

  // --- counting ---

  // The groups in which the selector counts. Nothing if it does not count.
  std::optional<Groups> counted_by(const Choice& choice) {
    const Selector& selector = choice.selector;
    if (looks_at_entry_alone(selector)) return std::nullopt;
    const bool in_blocks = selector.kind == Selector::Kind::Blocks;
    const int64_t width = selector.second * (mutant("select-block-with-next") ? 2 : 1);
    return groups_.of({selector.height(), choice.ranges, in_blocks ? width : 0});
  }

  // Sets left_[place] to the number of entries without a part at places before it.
  void count_left(int64_t height) {
    if (!left_) left_ = entries_.allocate("left", entries_.index_type(), entries_.count() + 1);
    entries_.each("mark_left", [&](Emitter& out, const Expr& place) {
      const Expr entry = entries_.entry_at(out, height, place);
      const Expr is_left = mutant("select-counts-taken") ? IntConst::make(1, loop::kBool)
                                                         : Load::make(part_of_, entry) == none();
      out.store(left_, place, flag(is_left));
    });
    entries_.scan(left_);
  }

  // Sets different_[place] to the number of one-column groups that contain entries without a part
  // and begin at places before it.
  void count_columns(const Grouping& of_columns) {
    const Groups groups = groups_.of(of_columns);
    if (!different_)
      different_ = entries_.allocate("different", entries_.index_type(), entries_.count() + 1);
    entries_.each("mark_columns", [&](Emitter& out, const Expr& place) {
      const auto [first, end] = groups.around(out, place);
      const Expr left = element(left_, end) - element(left_, first);
      out.store(different_, place, flag(both(first == place, IntConst::make(0) < left)));
    });
    entries_.scan(different_);
  }

  Expr flag(const Expr& condition) const {
    return loop::Cast::make(entries_.index_type(), condition);
  }

  static constexpr loop::Type kPartType{DType::Int32, 1};

  const CompositeFormat& format_;
  EntryProgram entries_;
  EntryGroups groups_{entries_};
  Buffer part_of_, left_, different_;
};

}  // namespace

loop::HostProgram select_parts(const CompositeFormat& format, DType index_type,
                               const Options& options) {
  return Selecting(format, index_type, options).write();
}

}  // namespace tulle::lower
