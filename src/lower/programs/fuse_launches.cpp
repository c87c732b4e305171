// Combines several kernels into one, which deals its blocks to them by ranges of numbers.
#include "lower/programs/fuse_launches.h"

#include <algorithm>
#include <set>

#include "loop/rename_locals.h"
#include "lower/kernel_parameters.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using loop::Stmt;

namespace {

// Renames the declarations of a kernel so that they are unique.
class LocalNames final : public loop::LocalRenaming {
 public:
  LocalNames(const loop::Kernel& kernel, size_t number) : ending_(concat(".", number, "l")) {
    for (const loop::ScalarParam& scalar : kernel.scalars) parameters_.insert(scalar.name);
  }

  loop::Buffer rewrite_buffer(const loop::Buffer& buffer) override {
    if (buffer->space == loop::Space::Global) return buffer;
    return loop::make_buffer(local(buffer->name), buffer->element, buffer->space);
  }

 private:
  std::string local(const std::string& name) override { return name + ending_; }
  Expr parameter(const Expr& var) const override {
    return parameters_.contains(var.as<loop::Var>()->name) ? var : Expr();
  }

  std::string ending_;
  std::set<std::string> parameters_;
};

// The loop over blocks and the statements before it.
struct BlockLoop {
  std::vector<Stmt> before;
  const loop::For* loop = nullptr;

  void find(const Stmt& stmt) {
    for (const Stmt& part : loop::statements_of(stmt)) {
      if (part.as<loop::Block>()) {
        find(part);
      } else if (const auto* found = part.as<loop::For>()) {
        loop = found;
      } else {
        before.push_back(part);
      }
    }
  }
};

loop::Kernel fused(const std::vector<loop::Kernel>& kernels) {
  std::vector<Stmt> before, bodies;
  std::vector<Expr> ends;
  const Expr block = loop::Var::make("launch.block");
  // Puts the last kernels first. Later parts have longer rows, and the longest work should start
  // early.
  for (size_t k = kernels.size(); k-- > 0;) {
    const Stmt body = LocalNames(kernels[k], k).rewrite(kernels[k].body);
    BlockLoop blocks;
    blocks.find(body);
    TULLE_CHECK(blocks.loop && blocks.loop->loop == loop::ForKind::Block && blocks.loop->step == 1,
                "a loop over blocks in ", kernels[k].name);
    before.insert(before.end(), blocks.before.begin(), blocks.before.end());
    const Expr first = ends.empty() ? IntConst::make(0) : ends.back();
    const Expr count = loop::maximum(blocks.loop->end - blocks.loop->begin, IntConst::make(0));
    const std::string name = concat("launch.end", k);
    before.push_back(loop::Let::make(name, first + count));
    ends.push_back(loop::Var::make(name));
    const Expr number = mutant("fused-block-unshifted") ? block : block - first;
    bodies.push_back(loop::Block::make(
        {loop::Let::make(blocks.loop->var, number + blocks.loop->begin), blocks.loop->body}));
  }
  Stmt chain = bodies.back();
  for (size_t at = bodies.size() - 1; at-- > 0;)
    chain = loop::If::make(block < ends[at], bodies[at], chain);
  before.push_back(
      loop::For::make("launch.block", IntConst::make(0), ends.back(), chain, loop::ForKind::Block));
  return with_parameters(kernels.front().name, loop::Block::make(std::move(before)));
}

}  // namespace

void fuse_launches(const std::vector<std::string>& names, loop::HostProgram& program) {
  std::vector<loop::Kernel> kernels;
  for (const std::string& name : names) kernels.push_back(program.kernel(name));
  const auto is_fused = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::erase_if(program.kernels, [&](const loop::Kernel& kernel) { return is_fused(kernel.name); });
  program.kernels.push_back(fused(kernels));
  // Moves the steps before later launches to the front of all of them.
  std::erase_if(program.steps, [&](const loop::HostStep& step) {
    const auto* launch = std::get_if<loop::LaunchStep>(&step);
    return launch && is_fused(launch->kernel) && launch->kernel != names.back();
  });
  for (loop::HostStep& step : program.steps) {
    auto* launch = std::get_if<loop::LaunchStep>(&step);
    if (launch && launch->kernel == names.back()) launch->kernel = names.front();
  }
}

}  // namespace tulle::lower
