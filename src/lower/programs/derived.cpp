// Makes arrays that lowered loops look up: dealt pieces, rows of entries.
#include "lower/programs/derived.h"

#include <algorithm>
#include <functional>

#include "lower/levels/search.h"
#include "lower/programs/for_each.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Cast;
using loop::Expr;
using loop::IntConst;
using loop::Load;
using loop::Var;

namespace {

constexpr int64_t kWorkOfPiece = 4;  // in addition to its entries

Expr wide(const loop::Buffer& buffer, const Expr& at) {
  return Cast::make(DType::Int64, Load::make(buffer, at));
}

loop::Stmt store(const loop::Buffer& buffer, const Expr& at, const Expr& value) {
  return loop::Store::make(buffer, at, Cast::make(buffer->element, value));
}

std::string pieces_name(int64_t length, int64_t part_count) {
  return concat("pieces", length, "x", part_count);
}

// A row without entries is one piece too.
Expr pieces_at_most(const StoredRows& stored, int64_t length) {
  return stored.rows + Binary::make(BinaryOp::Div, stored.entries, IntConst::make(length));
}

// The kernels that deal pieces. `first` stores the first piece of each row.
class PieceDealer {
 public:
  PieceDealer(const StoredRows& stored, int64_t length, int64_t part_count, const Options& options)
      : stored_(stored), length_(length), part_count_(part_count), options_(options) {}

  const std::string& name() const { return name_; }
  const loop::Buffer& first() const { return first_; }
  const DealtPieces& pieces() const { return pieces_; }

  // Counts the pieces of each row.
  loop::Kernel count_pieces() const {
    const auto count = [&](Emitter& out, const Expr& row) {
      const Expr entries = wide(stored_.positions, row + 1) - wide(stored_.positions, row);
      const Expr pieces = loop::maximum(IntConst::make(1), loop::ceil_divide(entries, length_));
      out.add(store(first_, row, pieces));
    };
    return kernel("count_", "row", stored_.rows, count);
  }

  // Writes the pieces of each row.
  loop::Kernel fill_pieces() const {
    const auto fill = [&](Emitter& out, const Expr& row) {
      const Expr piece = Var::make("piece"), begin = Var::make("begin"), end = Var::make("end");
      const Expr is_shared = Var::make("is_shared", loop::kBool);
      const Expr coded = loop::Select::make(is_shared, IntConst::make(-1) - row, row);
      const Expr at = wide(stored_.positions, row) + (piece - begin) * length_;
      out.add(loop::Let::make("begin", wide(first_, row)));
      out.add(loop::Let::make("end", wide(first_, row + 1)));
      out.add(loop::Let::make("is_shared", IntConst::make(1) < end - begin));
      out.add(loop::For::make(
          "piece", begin, end,
          loop::Block::make({store(pieces_.rows, piece, mutant("pieces-not-shared") ? row : coded),
                             store(pieces_.begins, piece, at)})));
      out.add(list_if(is_shared, row));
      // The last row also writes the end of the last piece.
      out.add(loop::If::make(row == stored_.rows - 1,
                             store(pieces_.begins, end, wide(stored_.positions, stored_.rows))));
    };
    return kernel("fill_", "row", stored_.rows, fill);
  }

  // Finds the start of each part.
  loop::Kernel share_pieces() const {
    const auto share = [&](Emitter& out, const Expr& part) {
      const Expr count = out.let("count", wide(first_, stored_.rows));
      const auto work_before = [&](const Expr& piece) {
        return wide(pieces_.begins, piece) + piece * kWorkOfPiece;
      };
      const Expr total = out.let("total", stored_.entries + count * kWorkOfPiece);
      const Expr wanted =
          out.let("wanted", Binary::make(BinaryOp::Div, total * part, IntConst::make(part_count_)));
      const Expr begin = emit_first_by_eighths(out, count, work_before, wanted);
      const Expr end = mutant("last-piece-lost") ? count - 1 : count;
      const Expr is_past = part == IntConst::make(part_count_);
      out.store(pieces_.parts, part, loop::Select::make(is_past, end, begin));
    };
    return kernel("share_", "part", IntConst::make(part_count_ + 1), share);
  }

 private:
  loop::Kernel kernel(const std::string& prefix, const std::string& number, const Expr& count,
                      const std::function<void(Emitter&, const Expr&)>& body) const {
    loop::FreshNames names;
    return kernel_for_each({prefix + name_, count, body}, number, options_, names);
  }

  // Adds the row to the list of rows with several pieces.
  loop::Stmt list_if(const Expr& is_shared, const Expr& row) const {
    const loop::Stmt take = loop::Atomic::make(loop::ReduceOp::Add, pieces_.shared_count,
                                               IntConst::make(0), IntConst::make(1), "slot");
    return loop::If::make(is_shared,
                          loop::Block::make({take, store(pieces_.shared, Var::make("slot"), row)}));
  }

  const StoredRows& stored_;
  const int64_t length_, part_count_;
  const Options& options_;
  const std::string name_ = stored_.tensor + "." + pieces_name(length_, part_count_);
  const loop::Buffer first_ = loop::make_buffer(name_ + ".first", DType::Int64);
  const DealtPieces pieces_ = dealt_pieces_of(stored_, length_, part_count_);
};

}  // namespace

void add_derived(const Derived& derived, loop::HostProgram& program) {
  const bool known =
      std::any_of(program.steps.begin(), program.steps.end(), [&](const loop::HostStep& step) {
        const auto* keep = std::get_if<loop::KeepStep>(&step);
        return keep && keep->what == derived.what && keep->tensor == derived.tensor;
      });
  if (known) return;
  program.kernels.insert(program.kernels.end(), derived.kernels.begin(), derived.kernels.end());
  program.steps.insert(program.steps.end(), derived.steps.begin(), derived.steps.end());
}

DealtPieces dealt_pieces_of(const StoredRows& stored, int64_t length, int64_t part_count) {
  const std::string prefix = concat(stored.tensor, ".", pieces_name(length, part_count));
  const DType index = stored.positions->element;
  return {loop::make_buffer(prefix + ".begins", index),
          loop::make_buffer(prefix + ".rows", index),
          loop::make_buffer(prefix + ".parts", DType::Int64),
          loop::make_buffer(prefix + ".shared", index),
          loop::make_buffer(prefix + ".shared_count", DType::Int64),
          Binary::make(BinaryOp::Div, stored.entries, IntConst::make(length))};
}

Derived derive_dealt_pieces(const StoredRows& stored, int64_t length, int64_t part_count,
                            const Options& options) {
  const PieceDealer dealer(stored, length, part_count, options);
  const DealtPieces& pieces = dealer.pieces();
  const std::string what = pieces_name(length, part_count);
  Derived derived{what, stored.tensor, {}, {}};
  const Expr most = pieces_at_most(stored, length);
  derived.steps = {loop::KeepStep{what, stored.tensor},
                   loop::AllocateStep{pieces.begins, most + 1},
                   loop::AllocateStep{pieces.rows, most},
                   loop::AllocateStep{pieces.parts, IntConst::make(part_count + 1)},
                   loop::AllocateStep{pieces.shared, pieces.most_shared},
                   loop::AllocateStep{pieces.shared_count, IntConst::make(1), true},
                   loop::AllocateStep{dealer.first(), stored.rows + 1}};
  const auto launch = [&](loop::Kernel kernel) {
    derived.steps.emplace_back(loop::LaunchStep{kernel.name});
    derived.kernels.push_back(std::move(kernel));
  };
  launch(dealer.count_pieces());
  derived.steps.emplace_back(loop::ScanStep{dealer.first(), stored.rows});
  launch(dealer.fill_pieces());
  launch(dealer.share_pieces());
  derived.steps.emplace_back(loop::FreeStep{dealer.first()});
  derived.steps.emplace_back(loop::KeptStep{
      {pieces.begins, pieces.rows, pieces.parts, pieces.shared, pieces.shared_count}});
  return derived;
}

loop::Buffer entry_rows_of(const StoredRows& stored) {
  return loop::make_buffer(stored.tensor + ".entry_rows", stored.positions->element);
}

namespace {

// Row by row, for workers of a CPU, which process many rows each.
ForEach fill_rows(const StoredRows& stored, const loop::Buffer& rows, int64_t early) {
  const auto fill = [=](Emitter& out, const Expr& row) {
    const Expr begin = wide(stored.positions, row) - early;
    out.add(loop::For::make("entry", loop::maximum(begin, IntConst::make(0)),
                            wide(stored.positions, row + 1), store(rows, Var::make("entry"), row)));
  };
  return {"fill_" + rows->name, stored.rows, fill};
}

// Entry by entry, for threads of a GPU. By rows, the thread with the longest row would finish last.
ForEach find_rows(const StoredRows& stored, const loop::Buffer& rows, int64_t early) {
  const auto find = [=](Emitter& out, const Expr& entry) {
    const Expr next = emit_first_by_halves(
        out, stored.rows, [&](const Expr& row) { return wide(stored.positions, row + 1); },
        entry + 1 + early);
    out.store(rows, entry, Cast::make(rows->element, next));
  };
  return {"fill_" + rows->name, stored.entries, find};
}

}  // namespace

Derived derive_entry_rows(const StoredRows& stored, const Options& options) {
  const loop::Buffer rows = entry_rows_of(stored);
  const int64_t early = mutant("entry-in-row-before") ? 1 : 0;
  loop::FreshNames names;
  Derived derived{"rows", stored.tensor, {}, {}};
  derived.kernels.push_back(
      options.on_gpu() ? kernel_for_each(find_rows(stored, rows, early), "entry", options, names)
                       : kernel_for_each(fill_rows(stored, rows, early), "row", options, names));
  derived.steps = {loop::KeepStep{derived.what, derived.tensor},
                   loop::AllocateStep{rows, stored.entries},
                   loop::LaunchStep{derived.kernels.back().name}, loop::KeptStep{{rows}}};
  return derived;
}

}  // namespace tulle::lower
