// Finds two unconditional loads, one step apart, from a buffer that the kernel never writes.
#include "passes/carry_loads.h"

#include <algorithm>
#include <optional>
#include <set>

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "loop/used_names.h"
#include "passes/linear.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

// The load if the expression is a load or a cast of a load; otherwise null.
const Load* as_load(const Expr& value) {
  const auto* cast = value.as<Cast>();
  const auto* load = (cast ? cast->value : value).as<Load>();
  return load && !load->predicate && load->index.type() == kIndex ? load : nullptr;
}

// The loads that every execution of the statement makes: none inside branches and loops.
void collect_certain_loads(const Stmt& stmt, std::vector<const Load*>& loads) {
  if (const auto* block = stmt.as<Block>()) {
    for (const Stmt& inner : block->stmts) collect_certain_loads(inner, loads);
  } else if (const auto* let = stmt.as<Let>()) {
    if (const Load* load = as_load(let->value)) loads.push_back(load);
  }
}

// Whether the index advances with the loop by one element per unit of its variable.
bool follows(const Expr& index, const std::string& variable, const std::set<std::string>& written) {
  const Linear sum = linear_form(index);
  return sum.coefficient(variable) == 1 &&
         std::all_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
           const auto* itself = term.first.template as<Var>();
           if (itself && itself->name == variable) return true;
           const std::set<std::string> read = names_read(term.first);
           return std::none_of(read.begin(), read.end(), [&](const std::string& name) {
             return name == variable || written.contains(name);
           });
         });
}

// Replaces the two loads by variables.
class CarriedLoads : public Rewriter {
 public:
  CarriedLoads(const Load& earlier, Expr here, Expr next, int64_t step)
      : earlier_(earlier), here_(std::move(here)), next_(std::move(next)), step_(step) {}

  using Rewriter::rewrite;
  Expr rewrite(const Expr& expr) override {
    const auto* load = expr.as<Load>();
    if (load && load->buffer->name == earlier_.buffer->name && !load->predicate &&
        load->index.type() == kIndex) {
      const auto distance = constant_difference(load->index, earlier_.index);
      if (distance == 0) return here_;
      if (distance == step_) return next_;
    }
    return Rewriter::rewrite(expr);
  }

 private:
  const Load& earlier_;
  Expr here_, next_;
  int64_t step_;
};

class Carrier : public Rewriter {
 public:
  explicit Carrier(const Kernel& kernel) : names_(kernel), read_only_(read_only_buffers(kernel)) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    Stmt result = Rewriter::rewrite(stmt);
    const auto* loop = result.as<For>();
    if (!loop || loop->loop != ForKind::Serial) return result;
    const std::optional<LoadPair> pair = find(*loop);
    return pair ? carry(*loop, *pair) : result;
  }

 private:
  struct LoadPair {
    const Load* earlier;
    const Load* later;
  };

  std::optional<LoadPair> find(const For& loop) const {
    const std::set<std::string> written = names_written(loop.body);
    if (written.contains(loop.var)) return std::nullopt;
    std::vector<const Load*> loads;
    collect_certain_loads(loop.body, loads);
    std::erase_if(loads, [&](const Load* load) {
      return !read_only_.contains(load->buffer->name) || !follows(load->index, loop.var, written);
    });
    for (const Load* earlier : loads) {
      for (const Load* later : loads) {
        if (earlier->buffer->name == later->buffer->name &&
            constant_difference(later->index, earlier->index) == loop.step)
          return LoadPair{earlier, later};
      }
    }
    return std::nullopt;
  }

  Stmt carry(const For& loop, const LoadPair& pair) {
    const Buffer& buffer = pair.earlier->buffer;
    const std::string here_name = names_.fresh(buffer->name + "_here");
    const std::string next_name = names_.fresh(buffer->name + "_next");
    const Expr here = Var::make(here_name, {buffer->element, 1});
    const Expr next = Var::make(next_name, {buffer->element, 1});
    std::vector<Stmt> body = {
        Let::make(next_name, Load::make(buffer, pair.later->index)),
        CarriedLoads(*pair.earlier, here, next, loop.step).rewrite(loop.body)};
    if (!mutant("carry-never-moves")) body.push_back(Assign::make(here_name, next));
    const Expr first = substitute(pair.earlier->index, loop.var, loop.begin);
    return If::make(
        loop.begin < loop.end,
        Block::make({Declare::make(here_name, Load::make(buffer, first)),
                     For::make(loop.var, loop.begin, loop.end, Block::make(std::move(body)),
                               loop.loop, loop.factor, loop.step)}));
  }

  FreshNames names_;
  std::set<std::string> read_only_;
};

}  // namespace

Kernel carry_loads(Kernel kernel) {
  kernel.body = Carrier(kernel).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
