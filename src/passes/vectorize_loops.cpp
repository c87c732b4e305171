// Splits a loop into vector steps and a tail.
#include "passes/vectorize_loops.h"

#include <bit>
#include <functional>
#include <map>

#include "loop/fresh_names.h"
#include "loop/gpu.h"
#include "loop/rewrite.h"
#include "passes/combine.h"
#include "passes/linear.h"
#include "passes/pad_locals.h"
#include "passes/unroll_loops.h"
#include "passes/vector_facts.h"
#include "passes/widen.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

// Builds the code of one loop, statement by statement.
class LoopVectorizer {
 public:
  LoopVectorizer(const For& loop, const VectorOptions& options, LocalSizes& locals,
                 FreshNames& names)
      : loop_(loop),
        options_(options),
        locals_(locals),
        names_(names),
        lanes_(loop.factor),
        extent_(constant_difference(loop.end, loop.begin)) {
    if (lanes_ < 2) throw NotVectorizable{concat("a vector of ", lanes_, " lanes")};
    if (loop.step != 1) throw NotVectorizable{concat("a step of ", loop.step)};
    facts_ = check_vector_loop(loop, extent_);
  }

  Stmt run() {
    begin_ = bind(loop_.begin, loop_.var + "_begin");
    if (extent_) {
      constant_extent(std::max<int64_t>(0, *extent_));
    } else {
      dynamic_extent();
    }
    return Block::make(std::move(stmts_));
  }

 private:
  void constant_extent(int64_t extent) {
    const int64_t full = extent / lanes_;
    const int64_t rest = mutant("vectorize-missing-tail") ? 0 : extent % lanes_;
    const int masked = masked_lanes(full, rest);
    const int64_t done = full * lanes_;
    with_partials(full > 0 || masked == lanes_ ? lanes_ : 0, [&] {
      full_steps(full);
      if (masked == lanes_) masked_step(begin_ + done, begin_ + extent, lanes_, rest);
    });
    if (masked == lanes_) return;
    if (masked > 0) {
      with_partials(masked, [&] { masked_step(begin_ + done, begin_ + extent, masked, rest); });
    } else {
      narrower_steps(begin_ + done, rest);
    }
  }

  // The lanes of the masked vector that computes the tail; 0 if narrower vectors are better.
  int masked_lanes(int64_t full, int64_t rest) const {
    if (!options_.masks || rest == 0) return 0;
    const bool reduces = !facts_.reductions.empty();
    if (std::has_single_bit(static_cast<uint64_t>(rest)) && !(reduces && full > 0)) return 0;
    const int lanes =
        full > 0 ? lanes_ : static_cast<int>(std::bit_ceil(static_cast<uint64_t>(rest)));
    return locals_.have_room(loop_, full * lanes_, rest, lanes) ? lanes : 0;
  }

  void full_steps(int64_t count) {
    if (count <= options_.most_copies) {
      for (int64_t step = 0; step < count; ++step)
        vector_step({begin_ + step * lanes_, lanes_, {}, {}});
    } else {
      vector_loop(begin_ + count * lanes_);
    }
  }

  void vector_loop(const Expr& end) {
    const Stmt body =
        widen(loop_, facts_, {Var::make(loop_.var), lanes_, {}, {}}, partials_, names_);
    stmts_.push_back(For::make(loop_.var, begin_, end, body, ForKind::Serial, 0, lanes_));
  }

  // Powers of two in descending order, down to a single iteration.
  void narrower_steps(Expr first, int64_t rest) {
    while (rest > 0) {
      const auto width = static_cast<int>(std::bit_floor(static_cast<uint64_t>(rest)));
      if (width == 1) {
        stmts_.push_back(Block::make({Let::make(loop_.var, first), loop_.body}));
      } else {
        with_partials(width, [&] { vector_step({first, width, {}, {}}); });
      }
      first = first + width;
      rest -= width;
    }
  }

  void dynamic_extent() {
    const Expr end = bind(loop_.end, loop_.var + "_end");
    const Expr steps = Binary::make(BinaryOp::Div, end - begin_, IntConst::make(lanes_));
    const Expr rest = bind(begin_ + steps * lanes_, loop_.var + "_rest");
    with_partials(lanes_, [&] {
      vector_loop(rest);
      if (!options_.masks || mutant("vectorize-missing-tail")) return;
      std::vector<Stmt> outer = std::move(stmts_);
      stmts_.clear();
      masked_step(rest, end, lanes_, std::nullopt);
      outer.push_back(If::make(rest < end, Block::make(std::move(stmts_))));
      stmts_ = std::move(outer);
    });
    if (options_.masks || mutant("vectorize-missing-tail")) return;
    stmts_.push_back(For::make(loop_.var, rest, end, loop_.body));
  }

  void vector_step(const LaneRange& range) {
    stmts_.push_back(widen(loop_, facts_, range, partials_, names_));
  }

  // The iterations from `first` to `end`, fewer than `lanes`. `count` is their number if it is
  // known.
  void masked_step(const Expr& first, const Expr& end, int lanes, std::optional<int64_t> count) {
    const std::string name = names_.fresh(loop_.var + "_mask");
    const Expr mask = Ramp::make(first, IntConst::make(1), lanes) < Broadcast::make(end, lanes);
    LaneRange range{first, lanes, Var::make(name, mask.type()), {}};
    if (count) range.padded = locals_.pad(loop_, lanes - *count);
    stmts_.push_back(
        Block::make({Let::make(name, mask), widen(loop_, facts_, range, partials_, names_)}));
  }

  // Declares a vector of partial results for each reduction, runs `steps` and combines the partial
  // results. Does nothing for zero lanes.
  void with_partials(int lanes, const std::function<void()>& steps) {
    if (lanes == 0) return;
    for (const LaneReduction& reduction : facts_.reductions) {
      const std::string name = names_.fresh(reduction.name + "_lanes");
      partials_[reduction.name] = name;
      stmts_.push_back(Declare::make(name, Broadcast::make(start_of(reduction), lanes)));
    }
    steps();
    for (const LaneReduction& reduction : facts_.reductions) {
      const Expr partial =
          Var::make(partials_.at(reduction.name), reduction.type.with_lanes(lanes));
      stmts_.push_back(Assign::make(reduction.name,
                                    finish(reduction, VectorReduce::make(reduction.op, partial))));
    }
  }

  // Sums and products start with the neutral element. The other operations are idempotent, so every
  // lane may start with the initial value.
  static Expr start_of(const LaneReduction& reduction) {
    if (reduction.op == ReduceOp::Add) return constant(reduction.type, 0);
    if (reduction.op == ReduceOp::Mul) return constant(reduction.type, 1);
    return Var::make(reduction.name, reduction.type);
  }

  static Expr finish(const LaneReduction& reduction, const Expr& combined) {
    const bool started_neutral = reduction.op == ReduceOp::Add || reduction.op == ReduceOp::Mul;
    if (!started_neutral || mutant("vector-reduce-drops-init")) return combined;
    return Binary::make(binary_of(reduction.op), Var::make(reduction.name, reduction.type),
                        combined);
  }

  // Evaluates a bound once, because the body may change its operands.
  Expr bind(const Expr& value, const std::string& wish) {
    if (value.as<IntConst>()) return value;
    std::string name = names_.fresh(wish);
    stmts_.push_back(Let::make(name, value));
    return Var::make(std::move(name));
  }

  const For& loop_;
  const VectorOptions& options_;
  LocalSizes& locals_;
  FreshNames& names_;
  int lanes_;
  std::optional<int64_t> extent_;
  VectorFacts facts_;
  Expr begin_;
  std::map<std::string, std::string> partials_;
  std::vector<Stmt> stmts_;
};

// Inner loops first: their vector form decides about the enclosing loops.
class Vectorizer : public Rewriter {
 public:
  Vectorizer(const VectorOptions& options, LocalSizes& locals, FreshNames& names, Remarks& remarks)
      : options_(options), locals_(locals), names_(names), remarks_(remarks) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    Stmt result = Rewriter::rewrite(stmt);
    const auto* loop = result.as<For>();
    if (!loop || loop->loop != ForKind::Vector) return result;
    try {
      return LoopVectorizer(*loop, options_, locals_, names_).run();
    } catch (const NotVectorizable& error) {
      remarks_.push_back(concat("the loop over ", loop->var, " is not vectorised: ", error.reason));
      if (is_gpu(options_.backend) && counts_through_registers(*loop))
        return written_out(*loop, *constant_extent(*loop), names_);
      return For::make(loop->var, loop->begin, loop->end, loop->body, ForKind::Serial, 0,
                       loop->step);
    }
  }

 private:
  const VectorOptions& options_;
  LocalSizes& locals_;
  FreshNames& names_;
  Remarks& remarks_;
};

}  // namespace

Kernel vectorize_loops(Kernel kernel, const VectorOptions& options, Remarks& remarks) {
  FreshNames names(kernel);
  LocalSizes locals(kernel.body);
  kernel.body = locals.grow(Vectorizer(options, locals, names, remarks).rewrite(kernel.body));
  return kernel;
}

}  // namespace tulle::passes
