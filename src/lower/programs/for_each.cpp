// Distributes numbers over workers and threads.
#include "lower/programs/for_each.h"

#include "lower/frame.h"
#include "lower/kernel_parameters.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using loop::Var;

namespace {

constexpr int64_t kBlocksToFill = 1024;  // the minimum for a GPU

loop::Stmt body_of(const ForEach& each, const std::string& number, loop::FreshNames& names) {
  Emitter out(names);
  each.body(out, Var::make(number));
  return out.take();
}

// A loop over this number of blocks of threads. The body receives the number of the thread.
loop::Kernel over_threads(const std::string& name, const Expr& blocks, int64_t threads,
                          loop::FreshNames& names,
                          const std::function<loop::Stmt(const Expr&)>& body) {
  const std::string block = names.fresh("block"), thread = names.fresh("thread");
  const loop::Stmt one = body(Var::make(block) * threads + Var::make(thread));
  const loop::Stmt all = loop::For::make(thread, IntConst::make(0), IntConst::make(threads), one,
                                         loop::ForKind::Thread);
  return with_parameters(
      name, loop::For::make(block, IntConst::make(0), blocks, all, loop::ForKind::Block));
}

}  // namespace

void launch_each(const ForEach& each, const Options& options, loop::HostProgram& program) {
  const int64_t at_a_time = options.limits.work_per_chunk;
  loop::FreshNames names;
  KernelFrame frame(KernelFrame::kind_for(options), options.limits, each.kernel,
                    options.on_gpu() ? each.count : loop::ceil_divide(each.count, at_a_time),
                    names);
  Emitter out(names);
  if (options.on_gpu()) {
    each.body(out, frame.chunk());
  } else {
    const std::string at = names.fresh("at");
    Emitter inside = out.nested();
    each.body(inside, Var::make(at));
    const Expr first = frame.chunk() * at_a_time;
    out.add(
        loop::For::make(at, first, loop::minimum(each.count, first + at_a_time), inside.take()));
  }
  program.kernels.push_back(
      with_parameters(each.kernel, loop::Block::make({frame.wrap({}, out.take_statements())})));
  frame.launch(program.steps);
}

loop::Kernel kernel_for_each(const ForEach& each, const std::string& number, const Options& options,
                             loop::FreshNames& names) {
  const loop::Stmt body = body_of(each, number, names);
  if (!options.on_gpu()) {
    return with_parameters(each.kernel, loop::For::make(number, IntConst::make(0), each.count, body,
                                                        loop::ForKind::Parallel));
  }
  const int64_t threads = options.limits.threads_per_block;
  const Expr blocks = loop::ceil_divide(each.count, threads);
  return over_threads(each.kernel, blocks, threads, names, [&](const Expr& thread) {
    return loop::Block::make(
        {loop::Let::make(number, thread), loop::If::make(Var::make(number) < each.count, body)});
  });
}

loop::Kernel kernel_for_some(const ForEach& each, const std::string& number, const Expr& most,
                             const Options& options, loop::FreshNames& names) {
  const loop::Stmt body = body_of(each, number, names);
  if (!options.on_gpu())
    return with_parameters(each.kernel,
                           loop::For::make(number, IntConst::make(0), each.count, body));
  const int64_t threads = options.limits.threads_per_block;
  const Expr blocks =
      loop::minimum(IntConst::make(kBlocksToFill), loop::ceil_divide(most, threads));
  return over_threads(each.kernel, blocks, threads, names, [&](const Expr& thread) {
    return loop::For::make(number, thread, each.count, body, loop::ForKind::Serial, 0,
                           kBlocksToFill * threads);
  });
}

}  // namespace tulle::lower
