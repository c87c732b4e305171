// Distributes chunks over workers and threads.
#include "lower/frame.h"

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Binary;
using loop::BinaryOp;
using loop::Expr;
using loop::IntConst;

namespace {

// The maximum total size of the slices of one kernel, in bytes. One thread gets its slice even if
// that is larger.
constexpr int64_t kMostSliceBytes = int64_t{1} << 28;

}  // namespace

KernelFrame::KernelFrame(Kind kind, const ChunkLimits& limits, std::string kernel, Expr chunks,
                         loop::FreshNames& names, int64_t members)
    : kind_(kind),
      limits_(limits),
      kernel_(std::move(kernel)),
      members_(kind == Kind::Threads ? members : 1),
      chunks_(std::move(chunks)),
      chunk_(loop::Var::make(names.fresh("chunk"))),
      member_(members_ > 1 ? loop::Var::make(names.fresh("member")) : Expr()),
      slot_(kind == Kind::Threads ? loop::Var::make(names.fresh("slot")) : Expr()),
      names_(names) {}

Expr KernelFrame::slots() const { return loop::Var::make(kernel_ + ".slots"); }

Expr KernelFrame::divided_by_members(const Expr& threads) const {
  return members_ == 1 ? threads : Binary::make(BinaryOp::Div, threads, IntConst::make(members_));
}
Expr KernelFrame::times_members(const Expr& chunks) const {
  return members_ == 1 ? chunks : chunks * members_;
}

Expr KernelFrame::least() const { return loop::Var::make(kernel_ + ".share"); }
Expr KernelFrame::rest() const { return loop::Var::make(kernel_ + ".rest"); }

bool KernelFrame::divides_on_host(const Work& work) const {
  return kind_ == Kind::Threads && work.is_known;
}

Expr KernelFrame::share(const Work& work, const Expr& chunk) {
  if (!divides_on_host(work)) return Binary::make(BinaryOp::Div, work.total * chunk, chunks_);
  TULLE_CHECK(!divided_ || loop::same(divided_, work.total), "several works of ", kernel_);
  divided_ = work.total;
  return chunk * least() + loop::minimum(chunk, rest());
}

Expr KernelFrame::last_chunk_from(const Work& work, const Expr& unit) {
  if (!divides_on_host(work))
    return Binary::make(BinaryOp::Div, (unit + 1) * chunks_ - 1, work.total);
  // The first chunks have one more unit. If the others have none, these contain all units.
  const Expr longer = rest() * (least() + 1), is_among = unit < longer;
  auto pick = [&](const Expr& among, const Expr& behind) {
    return loop::Select::make(is_among, among, behind);
  };
  const Expr none = IntConst::make(0);
  return pick(none, rest()) +
         Binary::make(BinaryOp::Div, unit - pick(none, longer), pick(least() + 1, least()));
}

KernelFrame::Place KernelFrame::allocate(const std::string& name, DType element, const Expr& size,
                                         bool zeroed, Emitter& out) {
  TULLE_CHECK(kind_ != Kind::Bound, "a workspace that a thread keeps: ", name);
  if (kind_ == Kind::Workers) {
    const loop::Buffer buffer =
        loop::make_buffer(names_.fresh(name), element, loop::Space::Workspace);
    out.add(loop::Allocate::make(buffer, size, zeroed));
    return {buffer, IntConst::make(0)};
  }
  const loop::Buffer buffer = loop::make_buffer(names_.fresh(concat(kernel_, ".slices.", name)),
                                                element, loop::Space::Global);
  slices_.push_back({buffer, size, zeroed});
  const Expr slot = mutant("slices-overlap")        ? IntConst::make(0)
                    : mutant("members-share-slice") ? divided_by_members(slot_)
                                                    : slot_;
  return {buffer, out.let(name + "_slice", slot * size)};
}

loop::Stmt KernelFrame::wrap(std::vector<loop::Stmt> before, std::vector<loop::Stmt> body) {
  auto append = [](std::vector<loop::Stmt>& to, std::vector<loop::Stmt> stmts) {
    to.insert(to.end(), stmts.begin(), stmts.end());
  };
  const std::string& chunk = chunk_.as<loop::Var>()->name;
  if (kind_ == Kind::Bound) {
    append(before, std::move(body));
    return loop::Block::make(std::move(before));
  }
  if (kind_ == Kind::Workers) {
    append(before, std::move(body));
    return loop::For::make(chunk, IntConst::make(0), chunks_, loop::Block::make(std::move(before)),
                           loop::ForKind::Parallel);
  }
  const std::string block = names_.fresh("block"), thread = names_.fresh("thread");
  const Expr number = loop::Var::make(block) * limits_.threads_per_block + loop::Var::make(thread);
  std::vector<loop::Stmt> inside;
  const auto add_member = [&](const Expr& of) {
    if (!member_) return;
    const BinaryOp op = mutant("members-by-chunk") ? BinaryOp::Div : BinaryOp::Mod;
    inside.push_back(loop::Let::make(member_.as<loop::Var>()->name,
                                     Binary::make(op, of, IntConst::make(members_))));
  };
  if (slices_.empty()) {
    add_member(number);
    inside.push_back(loop::Let::make(chunk, divided_by_members(number)));
    append(before, std::move(body));
    inside.push_back(loop::If::make(chunk_ < chunks_, loop::Block::make(std::move(before))));
  } else {
    // A thread with private memory runs several chunks in turn.
    const std::string round = names_.fresh("round");
    std::vector<loop::Stmt> one = {loop::Let::make(
        chunk, loop::Var::make(round) * divided_by_members(slots()) + divided_by_members(slot_))};
    one.push_back(loop::If::make(chunk_ < chunks_, loop::Block::make(std::move(body))));
    before.push_back(loop::For::make(round, IntConst::make(0), loop::Var::make(kernel_ + ".rounds"),
                                     loop::Block::make(std::move(one))));
    inside.push_back(loop::Let::make(slot_.as<loop::Var>()->name, number));
    add_member(slot_);
    inside.push_back(loop::If::make(slot_ < slots(), loop::Block::make(std::move(before))));
  }
  const loop::Stmt threads =
      loop::For::make(thread, IntConst::make(0), IntConst::make(limits_.threads_per_block),
                      loop::Block::make(std::move(inside)), loop::ForKind::Thread);
  return loop::For::make(block, IntConst::make(0), loop::Var::make(kernel_ + ".blocks"), threads,
                         loop::ForKind::Block);
}

void KernelFrame::launch(std::vector<loop::HostStep>& steps) const {
  if (kind_ == Kind::Threads) {
    Expr threads = times_members(chunks_);
    if (!slices_.empty()) {
      Expr bytes = IntConst::make(1);
      for (const Slices& slices : slices_)
        bytes = bytes + slices.size * size_of(slices.buffer->element);
      const Expr fitting =
          divided_by_members(Binary::make(BinaryOp::Div, IntConst::make(kMostSliceBytes), bytes));
      const Expr most = divided_by_members(IntConst::make(limits_.most_slots));
      threads = slots();
      const Expr at_once = loop::minimum(chunks_, loop::minimum(most, fitting));
      steps.push_back(loop::LetStep{kernel_ + ".slots",
                                    times_members(loop::maximum(IntConst::make(1), at_once))});
      const Expr all = mutant("members-miss-rounds") ? chunks_ : times_members(chunks_);
      steps.push_back(loop::LetStep{kernel_ + ".rounds",
                                    Binary::make(BinaryOp::Div, all + threads - 1, threads)});
    }
    steps.push_back(
        loop::LetStep{kernel_ + ".blocks", loop::ceil_divide(threads, limits_.threads_per_block)});
    if (divided_) {
      steps.push_back(
          loop::LetStep{kernel_ + ".share", Binary::make(BinaryOp::Div, divided_, chunks_)});
      steps.push_back(
          loop::LetStep{kernel_ + ".rest", Binary::make(BinaryOp::Mod, divided_, chunks_)});
    }
    for (const Slices& slices : slices_) {
      steps.push_back(loop::AllocateStep{slices.buffer, slots() * slices.size, slices.zeroed});
    }
  }
  steps.push_back(loop::LaunchStep{kernel_});
  for (const Slices& slices : slices_) steps.push_back(loop::FreeStep{slices.buffer});
}

}  // namespace tulle::lower
