// One closure per node. Pure operations also run for inactive threads, whose values are unused.
// Operations that can fail or that exchange values between threads respect the mask.
#include "loop/interpret/exprs.h"

#include <algorithm>

#include "support/check.h"

namespace tulle::loop {

namespace {

// The lane that a shuffle within a group of `width` lanes reads.
int64_t shuffle_source(ShuffleMode mode, int64_t own, int64_t lane, int width) {
  if (mode == ShuffleMode::Index) return lane & (width - 1);
  if (lane < 0) return own;
  int64_t source = own;
  switch (mode) {
    case ShuffleMode::Index:
      break;
    case ShuffleMode::Xor:
      source = own ^ lane;
      break;
    case ShuffleMode::Up:
      source = own - lane;
      break;
    case ShuffleMode::Down:
      source = own + lane;
      break;
  }
  return source < 0 || source >= width ? own : source;
}

}  // namespace

Operand ExprCompiler::compile(const Expr& expr) {
  switch (expr->kind) {
    case ExprKind::IntConst:
      return constant({.i = expr.as<IntConst>()->value}, expr.type());
    case ExprKind::FloatConst:
      return constant({.f = expr.as<FloatConst>()->value}, expr.type());
    case ExprKind::Var: {
      const auto found = environment_.variables.find(expr.as<Var>()->name);
      TULLE_CHECK(found != environment_.variables.end(), expr.as<Var>()->name);
      return {found->second, expr.type(), {}};
    }
    case ExprKind::Binary:
      return compile_binary(*expr.as<Binary>());
    case ExprKind::Select:
      return compile_select(*expr.as<Select>());
    case ExprKind::Cast:
      return compile_cast(*expr.as<Cast>());
    case ExprKind::Call:
      return compile_call(*expr.as<Call>());
    case ExprKind::Load:
      return compile_load(*expr.as<Load>());
    case ExprKind::Ramp:
      return compile_ramp(*expr.as<Ramp>());
    case ExprKind::Broadcast:
      return compile_broadcast(*expr.as<Broadcast>());
    case ExprKind::VectorReduce:
      return compile_vector_reduce(*expr.as<VectorReduce>());
    case ExprKind::LaneReduce:
      return compile_lane_reduce(*expr.as<LaneReduce>());
    case ExprKind::LaneShuffle:
      return compile_lane_shuffle(*expr.as<LaneShuffle>());
  }
  internal_error("an expression of unknown kind");
}

Operand ExprCompiler::constant(Word value, Type type) {
  Word* out = make_words(type);
  std::fill_n(out, words_of(type), value);
  return {out, type, {}};
}

void ExprCompiler::compute_where(const Operand& operand, const Word* condition, bool wanted,
                                 std::vector<uint8_t>& before) {
  if (!operand.compute) return;
  std::vector<uint8_t>& mask = threads_.mask();
  before = mask;
  for (int thread = 0; thread < threads_.count(); ++thread)
    mask[thread] &= (condition[thread].i != 0) == wanted;
  if (threads_.any()) operand();
  mask = before;
}

Operand ExprCompiler::compile_binary(const Binary& node) {
  if (is_logical(node.op) && !node.type.is_vector()) return compile_logical(node);
  Word* out = make_words(node.type);
  const size_t count = words_of(node.type);
  const DType type = node.a.type().scalar;
  auto run = [=, op = node.op, a = compile(node.a), b = compile(node.b)] {
    a();
    b();
    apply(op, type, a.words, b.words, out, count);
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_logical(const Binary& node) {
  Word* out = make_words(node.type);
  auto run = [=, this, op = node.op, a = compile(node.a), b = compile(node.b),
              before = std::vector<uint8_t>()]() mutable {
    a();
    compute_where(b, a.words, op == BinaryOp::And, before);
    for (int thread = 0; thread < threads_.count(); ++thread) {
      const bool decided = (a.words[thread].i != 0) == (op == BinaryOp::Or);
      out[thread] = decided ? a.words[thread] : b.words[thread];
    }
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_select(const Select& node) {
  Word* out = make_words(node.type);
  const size_t count = words_of(node.type);
  auto run = [=, this, lazy = !node.type.is_vector(), condition = compile(node.condition),
              yes = compile(node.yes), no = compile(node.no),
              before = std::vector<uint8_t>()]() mutable {
    condition();
    if (lazy) {
      compute_where(yes, condition.words, true, before);
      compute_where(no, condition.words, false, before);
    } else {
      yes();
      no();
    }
    for (size_t k = 0; k < count; ++k) out[k] = condition.words[k].i ? yes.words[k] : no.words[k];
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_cast(const Cast& node) {
  Word* out = make_words(node.type);
  const size_t count = words_of(node.type);
  auto run = [=, to = node.type.scalar, value = compile(node.value)] {
    value();
    convert(value.type.scalar, to, value.words, out, count);
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_call(const Call& node) {
  Word* out = make_words(node.type);
  const size_t count = words_of(node.type);
  std::vector<Operand> args;
  std::vector<const Word*> words;
  for (const Expr& arg : node.args) {
    args.push_back(compile(arg));
    words.push_back(args.back().words);
  }
  auto run = [=, function = node.function, type = node.type.scalar, args = std::move(args),
              words = std::move(words)] {
    for (const Operand& arg : args) arg();
    apply(function, type, words.data(), out, count);
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_load(const Load& node) {
  Word* out = make_words(node.type);
  const int lanes = node.type.lanes;
  const auto found = environment_.places.find(node.buffer->name);
  TULLE_CHECK(found != environment_.places.end(), node.buffer->name);
  Operand predicate = node.predicate ? compile(node.predicate) : Operand{};
  auto run = [=, this, place = found->second, index = compile(node.index),
              predicate = std::move(predicate)] {
    index();
    predicate();
    for (int thread = 0; thread < threads_.count(); ++thread) {
      if (!threads_.active(thread)) continue;
      InterpretedBuffer& memory = place.of(thread);
      for (int k = thread * lanes; k < (thread + 1) * lanes; ++k) {
        const bool reads = !predicate.words || predicate.words[k].i != 0;
        out[k] = reads ? memory.read(index.words[k].i, threads_, thread) : Word{.i = 0};
      }
    }
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_ramp(const Ramp& node) {
  Word* out = make_words(node.type);
  const int lanes = node.type.lanes;
  const Type one = node.type.with_lanes(1);
  Word* lane_number = make_words(one);
  Word* offset = make_words(one);
  auto run = [=, this, type = node.type.scalar, base = compile(node.base),
              stride = compile(node.stride)] {
    base();
    stride();
    for (int thread = 0; thread < threads_.count(); ++thread) {
      for (int lane = 0; lane < lanes; ++lane) {
        const Word number{.i = lane};
        convert(DType::Int64, type, &number, &lane_number[thread], 1);
        apply(BinaryOp::Mul, type, &lane_number[thread], &stride.words[thread], &offset[thread], 1);
        apply(BinaryOp::Add, type, &base.words[thread], &offset[thread],
              &out[thread * lanes + lane], 1);
      }
    }
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_broadcast(const Broadcast& node) {
  Word* out = make_words(node.type);
  const int lanes = node.type.lanes;
  auto run = [=, this, value = compile(node.value)] {
    value();
    for (int thread = 0; thread < threads_.count(); ++thread) {
      std::fill_n(out + thread * lanes, lanes, value.words[thread]);
    }
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_vector_reduce(const VectorReduce& node) {
  Word* out = make_words(node.type);
  auto run = [=, this, op = node.op, type = node.type.scalar, value = compile(node.value)] {
    value();
    const int lanes = value.type.lanes;
    for (int thread = 0; thread < threads_.count(); ++thread) {
      out[thread] = reduce(op, type, value.words + thread * lanes, lanes);
    }
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_lane_reduce(const LaneReduce& node) {
  Word* out = make_words(node.type);
  auto run = [=, this, op = node.op, width = node.width, type = node.type.scalar,
              value = compile(node.value)] {
    value();
    threads_.check_groups(width, "lane_reduce");
    for (int first = 0; first + width <= threads_.count(); first += width) {
      if (threads_.active(first))
        std::fill_n(out + first, width, reduce(op, type, value.words + first, width));
    }
  };
  return {out, node.type, std::move(run)};
}

Operand ExprCompiler::compile_lane_shuffle(const LaneShuffle& node) {
  Word* out = make_words(node.type);
  auto run = [=, this, mode = node.mode, width = node.width, value = compile(node.value),
              lane = compile(node.lane)] {
    value();
    lane();
    threads_.check_groups(width, "lane_shuffle");
    for (int thread = 0; thread < threads_.count(); ++thread) {
      const int own = thread % width;
      const int64_t source = shuffle_source(mode, own, lane.words[thread].i, width);
      out[thread] = value.words[thread - own + source];
    }
  };
  return {out, node.type, std::move(run)};
}

}  // namespace tulle::loop
