// Finds the leading loads of a loop's body and replaces them by variables.
#include "passes/load_ahead.h"

#include <optional>
#include <set>

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "loop/used_names.h"
#include "passes/counted_loop.h"

namespace tulle::passes {

using namespace loop;

namespace {

// The loads of one loop that move ahead.
class LoadsAhead {
 public:
  LoadsAhead(const std::set<std::string>& read_only, const While& loop, LoopCounter counter,
             FreshNames& names)
      : read_only_(read_only), loop_(loop), counter_(std::move(counter)), names_(names) {}

  // The leading statements of the body, which load for the next iteration.
  std::vector<Stmt> rewritten() {
    const std::vector<Stmt> front = front_of(loop_);
    const std::vector<Coordinate> found = coordinates_of(front, loop_, counter_.name, read_only_);
    std::vector<Stmt> result;
    for (size_t at = 0, next_found = 0; at < front.size(); ++at) {
      if (next_found < found.size() && found[next_found].at == at) {
        replace(found[next_found++], result);
      } else {
        result.push_back(front[at]);
      }
    }
    if (!declared_.empty()) result.insert(result.begin(), Let::make(next(), next_place()));
    return result;
  }

  // The statements before the loop.
  std::vector<Stmt> before() const {
    std::vector<Stmt> stmts = declared_;
    if (!first_.empty()) stmts.push_back(If::make(loop_.condition, Block::make(first_)));
    return stmts;
  }

 private:
  void replace(const Coordinate& coordinate, std::vector<Stmt>& result) {
    const Let& let = *coordinate.let;
    const Load& load = *coordinate.load;
    const std::string kept = names_.fresh(let.name + "_ahead");
    const Expr value = Var::make(kept, load.type);
    const auto load_at = [&](const Expr& at) {
      return Load::make(load.buffer, substitute(coordinate.place, counter_.name, at));
    };
    declared_.push_back(Declare::make(kept, constant(load.type, 0)));
    first_.push_back(Assign::make(kept, load_at(Var::make(counter_.name))));
    result.push_back(Let::make(
        let.name, let.value.as<Cast>() ? Cast::make(let.value.type().scalar, value) : value));
    result.push_back(Assign::make(kept, load_at(Var::make(next()))));
  }

  const std::string& next() {
    if (next_.empty()) next_ = names_.fresh(counter_.name + "_ahead");
    return next_;
  }

  // The counter of the next iteration. In the last iteration it stays unchanged.
  Expr next_place() const {
    const Expr here = Var::make(counter_.name), there = here + counter_.step;
    return Select::make(there < counter_.end, there, here);
  }

  const std::set<std::string>& read_only_;
  const While& loop_;
  LoopCounter counter_;
  FreshNames& names_;
  std::string next_;
  std::vector<Stmt> declared_, first_;
};

class LoadAhead : public Rewriter {
 public:
  explicit LoadAhead(const Kernel& kernel)
      : names_(kernel), read_only_(read_only_buffers(kernel)) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const Stmt result = Rewriter::rewrite(stmt);
    const auto* loop = result.as<While>();
    if (!loop || lanes_together(*loop) == 1) return result;
    const std::optional<LoopCounter> counter = counter_of(*loop);
    if (!counter) return result;
    LoadsAhead ahead(read_only_, *loop, *counter, names_);
    const Stmt changed = with_front(*loop, ahead.rewritten());
    std::vector<Stmt> stmts = ahead.before();
    if (stmts.empty()) return result;
    stmts.push_back(changed);
    return Block::make(std::move(stmts));
  }

 private:
  FreshNames names_;
  std::set<std::string> read_only_;
};

}  // namespace

Kernel load_ahead(Kernel kernel) {
  kernel.body = LoadAhead(kernel).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
