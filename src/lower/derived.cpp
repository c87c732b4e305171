// Making what lowered loops want to look up: pieces that are dealt, rows of entries.
#include "lower/derived.h"

#include <algorithm>
#include <functional>

#include "lower/emitter.h"
#include "lower/frame.h"
#include "lower/kernel_parameters.h"
#include "lower/search.h"
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

constexpr int64_t kWorkOfPiece = 4;      // beside that of its entries
constexpr int64_t kBlocksToFill = 1024;  // a GPU, at least

Expr wide(const loop::Buffer& buffer, const Expr& at) {
  return Cast::make(DType::Int64, Load::make(buffer, at));
}

loop::Stmt store(const loop::Buffer& buffer, const Expr& at, const Expr& value) {
  return loop::Store::make(buffer, at, Cast::make(buffer->element, value));
}

std::string pieces_name(int64_t length, int64_t part_count) {
  return concat("pieces", length, "x", part_count);
}

// A piece in which nothing but a row without entries stands is one, too.
Expr pieces_at_most(const StoredRows& stored, int64_t length) {
  return stored.rows + Binary::make(BinaryOp::Div, stored.entries, IntConst::make(length));
}

// How many pieces each row has.
loop::Kernel count_pieces(const std::string& name, const StoredRows& stored, int64_t length,
                          const loop::Buffer& first, Backend backend) {
  const Expr row = Var::make("row");
  const Expr entries = wide(stored.positions, row + 1) - wide(stored.positions, row);
  const Expr pieces = loop::maximum(IntConst::make(1), loop::ceil_divide(entries, length));
  Names names;
  return kernel_for_each("count_" + name, "row", stored.rows, store(first, row, pieces), backend,
                         names);
}

// The pieces of each row, of which `first` is the first.
loop::Kernel fill_pieces(const std::string& name, const StoredRows& stored, int64_t length,
                         const loop::Buffer& first, const DealtPieces& pieces, Backend backend) {
  Names names;
  const Expr row = Var::make("row"), piece = Var::make("piece"), begin = Var::make("begin"),
             end = Var::make("end"), is_shared = Var::make("is_shared", loop::kBool);
  const Expr coded = loop::Select::make(is_shared, IntConst::make(-1) - row, row);
  const loop::Stmt one = loop::Block::make(
      {store(pieces.rows, piece, mutant("pieces-not-shared") ? row : coded),
       store(pieces.begins, piece, wide(stored.positions, row) + (piece - begin) * length)});
  const Expr slot = Var::make("slot");
  const loop::Stmt list = loop::If::make(
      is_shared,
      loop::Block::make({loop::Atomic::make(loop::ReduceOp::Add, pieces.shared_count,
                                            IntConst::make(0), IntConst::make(1), "slot"),
                         store(pieces.shared, slot, row)}));
  // The last row also writes where the last piece ends.
  const loop::Stmt last = loop::If::make(
      row == stored.rows - 1, store(pieces.begins, end, wide(stored.positions, stored.rows)));
  return kernel_for_each(
      "fill_" + name, "row", stored.rows,
      loop::Block::make({loop::Let::make("begin", wide(first, row)),
                         loop::Let::make("end", wide(first, row + 1)),
                         loop::Let::make("is_shared", IntConst::make(1) < end - begin),
                         loop::For::make("piece", begin, end, one), list, last}),
      backend, names);
}

// Where each part begins.
loop::Kernel share_pieces(const std::string& name, const StoredRows& stored, int64_t part_count,
                          const loop::Buffer& first, const DealtPieces& pieces, Backend backend) {
  Names names;
  Emitter out(names);
  const Expr part = Var::make("part");
  const Expr count = out.let("count", wide(first, stored.rows));
  const auto work_before = [&](const Expr& piece) {
    return wide(pieces.begins, piece) + piece * kWorkOfPiece;
  };
  const Expr total = out.let("total", stored.entries + count * kWorkOfPiece);
  const Expr wanted =
      out.let("wanted", Binary::make(BinaryOp::Div, total * part, IntConst::make(part_count)));
  const Expr begin = emit_first_by_eighths(out, count, work_before, wanted);
  const Expr end = mutant("last-piece-lost") ? count - 1 : count;
  out.store(pieces.parts, part, loop::Select::make(part == IntConst::make(part_count), end, begin));
  return kernel_for_each("share_" + name, "part", IntConst::make(part_count + 1), out.take(),
                         backend, names);
}

}  // namespace

void add_derived(const Derived& derived, loop::HostProgram& program) {
  const bool known =
      std::any_of(program.steps.begin(), program.steps.end(), [&](const loop::Step& step) {
        const auto* keep = std::get_if<loop::KeepStep>(&step);
        return keep && keep->what == derived.what && keep->tensor == derived.tensor;
      });
  if (known) return;
  program.kernels.insert(program.kernels.end(), derived.kernels.begin(), derived.kernels.end());
  program.steps.insert(program.steps.end(), derived.steps.begin(), derived.steps.end());
}

DealtPieces dealt_pieces_of(const StoredRows& stored, int64_t length, int64_t part_count) {
  const std::string prefix = concat(stored.tensor, "_", pieces_name(length, part_count));
  const DType index = stored.positions->element;
  return {loop::make_buffer(prefix + "_begins", index),
          loop::make_buffer(prefix + "_rows", index),
          loop::make_buffer(prefix + "_parts", DType::Int64),
          loop::make_buffer(prefix + "_shared", index),
          loop::make_buffer(prefix + "_shared_count", DType::Int64),
          Binary::make(BinaryOp::Div, stored.entries, IntConst::make(length))};
}

Derived derive_dealt_pieces(const StoredRows& stored, int64_t length, int64_t part_count,
                            Backend backend) {
  const DealtPieces pieces = dealt_pieces_of(stored, length, part_count);
  const std::string what = pieces_name(length, part_count), name = stored.tensor + "_" + what;
  const loop::Buffer first = loop::make_buffer(name + "_first", DType::Int64);
  Derived derived{what, stored.tensor, {}, {}};
  const Expr most = pieces_at_most(stored, length);
  derived.steps = {loop::KeepStep{what, stored.tensor},
                   loop::AllocateStep{pieces.begins, most + 1},
                   loop::AllocateStep{pieces.rows, most},
                   loop::AllocateStep{pieces.parts, IntConst::make(part_count + 1)},
                   loop::AllocateStep{pieces.shared, pieces.most_shared},
                   loop::AllocateStep{pieces.shared_count, IntConst::make(1), true},
                   loop::AllocateStep{first, stored.rows + 1}};
  derived.kernels.push_back(count_pieces(name, stored, length, first, backend));
  derived.steps.emplace_back(loop::LaunchStep{derived.kernels.back().name});
  derived.steps.emplace_back(loop::ScanStep{first, stored.rows});
  derived.kernels.push_back(fill_pieces(name, stored, length, first, pieces, backend));
  derived.steps.emplace_back(loop::LaunchStep{derived.kernels.back().name});
  derived.kernels.push_back(share_pieces(name, stored, part_count, first, pieces, backend));
  derived.steps.emplace_back(loop::LaunchStep{derived.kernels.back().name});
  derived.steps.emplace_back(loop::FreeStep{first});
  derived.steps.emplace_back(loop::KeptStep{
      {pieces.begins, pieces.rows, pieces.parts, pieces.shared, pieces.shared_count}});
  return derived;
}

loop::Buffer entry_rows_of(const StoredRows& stored) {
  return loop::make_buffer(stored.tensor + "_entry_rows", stored.positions->element);
}

namespace {

// Row by row: workers have many of them each.
loop::Kernel fill_rows(const std::string& name, const StoredRows& stored, const loop::Buffer& rows,
                       int64_t early) {
  const Expr row = Var::make("row");
  const Expr begin = wide(stored.positions, row) - early;
  const loop::Stmt fill =
      loop::For::make("entry", loop::maximum(begin, IntConst::make(0)),
                      wide(stored.positions, row + 1), store(rows, Var::make("entry"), row));
  Names names;
  return kernel_for_each(name, "row", stored.rows, fill, Backend::Cpu, names);
}

// Entry by entry: a thread that had a long row would be the last of all.
loop::Kernel find_rows(const std::string& name, const StoredRows& stored, const loop::Buffer& rows,
                       int64_t early) {
  Names names;
  Emitter out(names);
  const Expr entry = Var::make("entry");
  const Expr next = emit_first_by_halves(
      out, stored.rows, [&](const Expr& row) { return wide(stored.positions, row + 1); },
      entry + 1 + early);
  out.store(rows, entry, Cast::make(rows->element, next));
  return kernel_for_each(name, "entry", stored.entries, out.take(), Backend::Gpu, names);
}

}  // namespace

Derived derive_entry_rows(const StoredRows& stored, Backend backend) {
  const loop::Buffer rows = entry_rows_of(stored);
  const std::string name = "fill_" + rows->name;
  const int64_t early = mutant("entry-in-row-before") ? 1 : 0;
  Derived derived{"rows", stored.tensor, {}, {}};
  derived.kernels.push_back(backend == Backend::Gpu ? find_rows(name, stored, rows, early)
                                                    : fill_rows(name, stored, rows, early));
  derived.steps = {loop::KeepStep{derived.what, derived.tensor},
                   loop::AllocateStep{rows, stored.entries},
                   loop::LaunchStep{derived.kernels.back().name}, loop::KeptStep{{rows}}};
  return derived;
}

namespace {

// A loop over so many blocks of threads, whose numbers the body gets.
loop::Kernel over_threads(std::string name, const Expr& blocks, Names& names,
                          const std::function<loop::Stmt(const Expr&)>& body) {
  const int64_t threads = gpu_shape().threads_per_block;
  const std::string block = names.fresh("block"), thread = names.fresh("thread");
  const loop::Stmt one = body(Var::make(block) * threads + Var::make(thread));
  const loop::Stmt all = loop::For::make(thread, IntConst::make(0), IntConst::make(threads), one,
                                         loop::LoopKind::Thread);
  return with_parameters(std::move(name), loop::For::make(block, IntConst::make(0), blocks, all,
                                                          loop::LoopKind::Block));
}

}  // namespace

loop::Kernel kernel_for_each(std::string name, const std::string& var, const Expr& count,
                             const loop::Stmt& body, Backend backend, Names& names) {
  if (backend == Backend::Cpu) {
    return with_parameters(std::move(name), loop::For::make(var, IntConst::make(0), count, body,
                                                            loop::LoopKind::Parallel));
  }
  const Expr blocks = loop::ceil_divide(count, gpu_shape().threads_per_block);
  return over_threads(std::move(name), blocks, names, [&](const Expr& number) {
    return loop::Block::make(
        {loop::Let::make(var, number), loop::If::make(Var::make(var) < count, body)});
  });
}

loop::Kernel kernel_for_some(std::string name, const std::string& var, const Expr& count,
                             const Expr& most, const loop::Stmt& body, Backend backend,
                             Names& names) {
  if (backend == Backend::Cpu)
    return with_parameters(std::move(name), loop::For::make(var, IntConst::make(0), count, body));
  const int64_t threads = gpu_shape().threads_per_block;
  const Expr blocks =
      loop::minimum(IntConst::make(kBlocksToFill), loop::ceil_divide(most, threads));
  return over_threads(std::move(name), blocks, names, [&](const Expr& number) {
    return loop::For::make(var, number, count, body, loop::LoopKind::Serial, 0,
                           kBlocksToFill * threads);
  });
}

}  // namespace tulle::lower
