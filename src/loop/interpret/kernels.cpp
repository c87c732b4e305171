// Compiles statements to closures and runs them.
#include "loop/interpret/kernels.h"

#include <algorithm>

#include "loop/gpu.h"
#include "loop/interpret/exprs.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

using Action = std::function<void()>;
using Mask = std::vector<uint8_t>;

class StmtCompiler {
 public:
  StmtCompiler(Threads& threads, Registers& registers, Environment& environment, uint32_t launch)
      : threads_(threads),
        environment_(environment),
        exprs_(threads, registers, environment),
        launch_(launch) {}

  Action compile(const Stmt& stmt);

 private:
  Action compile_block(const Block& node);
  Action compile_let(const Let& node);
  Action compile_declare(const Declare& node);
  Action compile_assign(const Assign& node);
  Action compile_store(const Store& node);
  Action compile_for(const For& node);
  Action compile_serial(const For& node, Operand begin, Operand end);
  Action compile_parallel(const For& node, Operand begin, Operand end);
  Action compile_bound(const For& node, Operand begin);
  Action compile_while(const While& node);
  Action compile_if(const If& node);
  Action compile_allocate(const Allocate& node);
  Action compile_atomic(const Atomic& node);
  Action compile_vector_atomic(const Atomic& node);
  Action compile_prefetch(const PrefetchLine& node);
  Action compile_invoke(const Invoke& node);

  BufferPlace place_of(const Buffer& buffer) const { return environment_.places.at(buffer->name); }
  Mask* make_mask() { return &masks_.emplace_back(threads_.count(), uint8_t{0}); }
  std::vector<InterpretedBuffer>& make_memories(const Buffer& buffer, int count) {
    return memories_.emplace_back(count, InterpretedBuffer(buffer->name, buffer->element));
  }

  // Calls `action` for every active thread.
  template <typename Each>
  void for_active(Each each) const {
    for (int thread = 0; thread < threads_.count(); ++thread) {
      if (threads_.active(thread)) each(thread);
    }
  }

  Threads& threads_;
  Environment& environment_;
  ExprCompiler exprs_;
  uint32_t launch_;
  std::deque<Mask> masks_;
  std::deque<std::vector<InterpretedBuffer>> memories_;
};

Action StmtCompiler::compile(const Stmt& stmt) {
  switch (stmt->kind) {
    case StmtKind::Block:
      return compile_block(*stmt.as<Block>());
    case StmtKind::Let:
      return compile_let(*stmt.as<Let>());
    case StmtKind::Declare:
      return compile_declare(*stmt.as<Declare>());
    case StmtKind::Assign:
      return compile_assign(*stmt.as<Assign>());
    case StmtKind::Store:
      return compile_store(*stmt.as<Store>());
    case StmtKind::For:
      return compile_for(*stmt.as<For>());
    case StmtKind::While:
      return compile_while(*stmt.as<While>());
    case StmtKind::If:
      return compile_if(*stmt.as<If>());
    case StmtKind::Allocate:
      return compile_allocate(*stmt.as<Allocate>());
    case StmtKind::Atomic:
      return compile_atomic(*stmt.as<Atomic>());
    case StmtKind::Barrier:
      return [this, scope = stmt.as<Barrier>()->scope] { threads_.barrier(scope); };
    case StmtKind::PrefetchLine:
      return compile_prefetch(*stmt.as<PrefetchLine>());
    case StmtKind::Invoke:
      return compile_invoke(*stmt.as<Invoke>());
  }
  internal_error("a statement of unknown kind");
}

Action StmtCompiler::compile_block(const Block& node) {
  std::vector<Action> actions;
  actions.reserve(node.stmts.size());
  for (const Stmt& stmt : node.stmts) actions.push_back(compile(stmt));
  return [actions = std::move(actions)] {
    for (const Action& action : actions) action();
  };
}

// A computed value owns its words, so the name can refer to them.
Action StmtCompiler::compile_let(const Let& node) {
  Operand value = exprs_.compile(node.value);
  if (!value.compute) return compile_declare(Declare(node.name, node.value));
  environment_.variables[node.name] = value.words;
  return std::move(value.compute);
}

Action StmtCompiler::compile_declare(const Declare& node) {
  const Type type = node.init.type();
  const size_t count = static_cast<size_t>(threads_.count()) * type.lanes;
  Word* words = exprs_.make_words(type);
  Operand init = exprs_.compile(node.init);
  environment_.variables[node.name] = words;
  return [=, init = std::move(init)] {
    init();
    std::copy_n(init.words, count, words);
  };
}

Action StmtCompiler::compile_assign(const Assign& node) {
  const int lanes = node.value.type().lanes;
  Word* words = environment_.variables.at(node.name);
  return [=, this, value = exprs_.compile(node.value)] {
    value();
    for_active([&](int thread) {
      std::copy_n(value.words + thread * lanes, lanes, words + thread * lanes);
    });
  };
}

Action StmtCompiler::compile_store(const Store& node) {
  const int lanes = node.value.type().lanes;
  Operand predicate = node.predicate ? exprs_.compile(node.predicate) : Operand{};
  return [=, this, place = place_of(node.buffer), index = exprs_.compile(node.index),
          value = exprs_.compile(node.value), predicate = std::move(predicate)] {
    index();
    value();
    predicate();
    for_active([&](int thread) {
      InterpretedBuffer& memory = place.of(thread);
      for (int k = thread * lanes; k < (thread + 1) * lanes; ++k) {
        if (predicate.words && predicate.words[k].i == 0) continue;
        memory.write(index.words[k].i, value.words[k], threads_, thread);
      }
    });
  };
}

Action StmtCompiler::compile_for(const For& node) {
  Operand begin = exprs_.compile(node.begin);
  Operand end = exprs_.compile(node.end);
  environment_.variables[node.var] = exprs_.make_words(kIndex);
  switch (node.loop) {
    case ForKind::Serial:
    case ForKind::Vector:
    case ForKind::Unrolled:
      return compile_serial(node, std::move(begin), std::move(end));
    case ForKind::Parallel:
    case ForKind::Block:
      return compile_parallel(node, std::move(begin), std::move(end));
    case ForKind::Warp:
    case ForKind::Lane:
    case ForKind::Thread:
      return compile_bound(node, std::move(begin));
  }
  internal_error("a loop of unknown kind");
}

// Each thread has its own counter and becomes inactive when its loop ends.
Action StmtCompiler::compile_serial(const For& node, Operand begin, Operand end) {
  Word* var = environment_.variables.at(node.var);
  Word* limit = exprs_.make_words(kIndex);
  Mask* before = make_mask();
  return [=, this, begin = std::move(begin), end = std::move(end), step = node.step,
          body = compile(node.body)] {
    const int count = threads_.count();
    Mask& mask = threads_.mask();
    begin();
    end();
    std::copy_n(begin.words, count, var);
    std::copy_n(end.words, count, limit);
    *before = mask;
    while (true) {
      uint8_t any = 0;
      for (int thread = 0; thread < count; ++thread) {
        mask[thread] = (*before)[thread] && var[thread].i < limit[thread].i;
        any |= mask[thread];
      }
      if (!any) break;
      threads_.count_step();
      body();
      for (int thread = 0; thread < count; ++thread) {
        if (mask[thread]) var[thread].i += step;
      }
    }
    mask = *before;
  };
}

Action StmtCompiler::compile_parallel(const For& node, Operand begin, Operand end) {
  Word* var = environment_.variables.at(node.var);
  return [=, this, begin = std::move(begin), end = std::move(end), step = node.step,
          body = compile(node.body)] {
    begin();
    end();
    const int64_t limit = end.words[0].i;
    for (int64_t i = begin.words[0].i; i < limit; i += step) {
      threads_.begin_block();
      threads_.count_step();
      std::fill_n(var, threads_.count(), Word{.i = i});
      body();
    }
  };
}

// Warp, lane and thread loops: each thread runs its own iteration.
Action StmtCompiler::compile_bound(const For& node, Operand begin) {
  Word* var = environment_.variables.at(node.var);
  Mask* before = make_mask();
  const int64_t extent = constant_extent(node).value_or(0);
  return [=, this, begin = std::move(begin), loop = node.loop, step = node.step,
          body = compile(node.body)] {
    begin();
    *before = threads_.mask();
    for (int thread = 0; thread < threads_.count(); ++thread) {
      const int number = loop == ForKind::Warp   ? thread / kWarpSize
                         : loop == ForKind::Lane ? thread % kWarpSize
                                                 : thread;
      var[thread].i = begin.words[thread].i + number * step;
      if (number >= extent) threads_.mask()[thread] = 0;
    }
    if (threads_.any()) body();
    threads_.mask() = *before;
  };
}

Action StmtCompiler::compile_while(const While& node) {
  Mask* before = make_mask();
  return [=, this, condition = exprs_.compile(node.condition), body = compile(node.body)] {
    Mask& mask = threads_.mask();
    *before = mask;
    while (true) {
      condition();
      for (int thread = 0; thread < threads_.count(); ++thread)
        mask[thread] &= condition.words[thread].i != 0;
      if (!threads_.any()) break;
      threads_.count_step();
      body();
    }
    mask = *before;
  };
}

Action StmtCompiler::compile_if(const If& node) {
  Mask* before = make_mask();
  Mask* rest = make_mask();
  Action no = node.no ? compile(node.no) : Action();
  return [=, this, condition = exprs_.compile(node.condition), yes = compile(node.yes),
          no = std::move(no)] {
    condition();
    Mask& mask = threads_.mask();
    *before = mask;
    for (int thread = 0; thread < threads_.count(); ++thread) {
      const bool holds = condition.words[thread].i != 0;
      (*rest)[thread] = mask[thread] && !holds;
      mask[thread] = mask[thread] && holds;
    }
    if (threads_.any()) yes();
    mask = *rest;
    if (no && threads_.any()) no();
    mask = *before;
  };
}

Action StmtCompiler::compile_allocate(const Allocate& node) {
  const bool each = node.buffer->space == Space::Local;
  std::vector<InterpretedBuffer>& memories =
      make_memories(node.buffer, each ? threads_.count() : 1);
  if (node.buffer->space == Space::Shared) memories[0].track(launch_);
  environment_.places[node.buffer->name] = {memories.data(), each};
  return [&memories, zeroed = node.zeroed, size = exprs_.compile(node.size)] {
    size();
    for (InterpretedBuffer& memory : memories) memory.allocate(size.words[0].i, zeroed);
  };
}

// A GPU updates the elements of a vector together only if they are aligned.
Action StmtCompiler::compile_vector_atomic(const Atomic& node) {
  const int lanes = node.index.type().lanes;
  return [=, this, op = node.op, place = place_of(node.buffer), index = exprs_.compile(node.index),
          value = exprs_.compile(node.value)] {
    index();
    value();
    for_active([&](int thread) {
      const size_t first = static_cast<size_t>(thread) * static_cast<size_t>(lanes);
      if (index.words[first].i % lanes != 0)
        internal_error("an atomic of ", lanes, " elements from number ", index.words[first].i);
      for (size_t at = first; at < first + static_cast<size_t>(lanes); ++at)
        place.of(thread).update(op, index.words[at].i, value.words[at], threads_, thread);
    });
  };
}

Action StmtCompiler::compile_atomic(const Atomic& node) {
  if (node.index.type().is_vector()) return compile_vector_atomic(node);
  Word* result = exprs_.make_words({node.buffer->element, 1});
  Action run = [=, this, op = node.op, place = place_of(node.buffer),
                index = exprs_.compile(node.index), value = exprs_.compile(node.value)] {
    index();
    value();
    for_active([&](int thread) {
      result[thread] =
          place.of(thread).update(op, index.words[thread].i, value.words[thread], threads_, thread);
    });
  };
  if (!node.result.empty()) environment_.variables[node.result] = result;
  return run;
}

// Evaluates only the index, which may load.
Action StmtCompiler::compile_prefetch(const PrefetchLine& node) {
  return [index = exprs_.compile(node.index)] { index(); };
}

Action StmtCompiler::compile_invoke(const Invoke& node) {
  std::vector<Operand> args;
  for (const Expr& arg : node.args) args.push_back(exprs_.compile(arg));
  return [this, function = node.function, place = place_of(node.buffer), args = std::move(args)] {
    for (const Operand& arg : args) arg();
    for_active([&](int thread) {
      InterpretedBuffer& memory = place.of(thread);
      const int64_t first = args.at(0).words[thread].i;
      const int64_t second = args.at(1).words[thread].i;
      if (function == RuntimeFunction::ReportOutOfBounds) {
        internal_error(memory.name(), "[", first, "] is out of bounds, the size is ", second);
      }
      std::vector<Word> sorted;
      sorted.reserve(std::max<int64_t>(0, std::min(second, memory.size()) - first));
      for (int64_t k = first; k < second; ++k) sorted.push_back(memory.read(k, threads_, thread));
      std::sort(sorted.begin(), sorted.end(), [](Word a, Word b) { return a.i < b.i; });
      for (int64_t k = first; k < second; ++k) memory.write(k, sorted[k - first], threads_, thread);
    });
  };
}

}  // namespace

void run_kernel(const Kernel& kernel, std::map<std::string, InterpretedBuffer>& buffers,
                const std::map<std::string, Word>& scalars, uint32_t launch, int64_t most_steps) {
  Threads threads(threads_per_block(kernel.body), most_steps);
  Registers registers;
  Environment environment;
  for (const BufferParam& param : kernel.buffers) {
    InterpretedBuffer& memory = buffers.at(param.buffer->name);
    memory.track(param.writable ? launch : 0);
    environment.places[param.buffer->name] = {&memory, false};
  }
  for (const ScalarParam& param : kernel.scalars) {
    Word* words = registers.make(threads.count());
    std::fill_n(words, threads.count(), scalars.at(param.name));
    environment.variables[param.name] = words;
  }
  StmtCompiler compiler(threads, registers, environment, launch);
  try {
    compiler.compile(kernel.body)();
  } catch (const InternalError& error) {
    internal_error("kernel ", kernel.name, ": ", error.what());
  }
}

}  // namespace tulle::loop
