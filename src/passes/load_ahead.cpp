// Finds the loads at the front of a loop's body, and keeps what they find in variables.
#include "passes/load_ahead.h"

#include <map>
#include <optional>
#include <set>

#include "loop/rewrite.h"
#include "passes/counted_loop.h"
#include "passes/names.h"

namespace tulle::passes {

using namespace loop;

namespace {

// What is loaded ahead of one loop.
class Ahead {
 public:
  Ahead(const std::set<std::string>& read_only, const While& loop, LoopCounter counter,
        Names& names)
      : read_only_(read_only),
        condition_(loop.condition),
        counter_(std::move(counter)),
        written_(names_written(loop.body)),
        names_(names) {}

  // The statements at the front of the body, with loads of the next iteration in place of those of
  // their own.
  std::vector<Stmt> rewritten(const std::vector<Stmt>& stmts) {
    std::vector<Stmt> result;
    for (const Stmt& stmt : stmts) {
      const auto* let = stmt.as<Let>();
      const Load* load = let ? coordinate(let->value) : nullptr;
      const Expr place = load ? place_of(load->index) : Expr();
      if (!place) {
        if (let) remember(*let);
        result.push_back(stmt);
        continue;
      }
      const std::string kept = names_.fresh(let->name + "_ahead");
      const Expr value = Var::make(kept, load->type);
      const auto load_at = [&](const Expr& at) {
        return Load::make(load->buffer, substitute(place, counter_.name, at));
      };
      declared_.push_back(Declare::make(kept, constant(load->type, 0)));
      first_.push_back(Assign::make(kept, load_at(Var::make(counter_.name))));
      result.push_back(Let::make(
          let->name, let->value.as<Cast>() ? Cast::make(let->value.type().scalar, value) : value));
      result.push_back(Assign::make(kept, load_at(Var::make(next()))));
    }
    if (!declared_.empty()) result.insert(result.begin(), Let::make(next(), next_place()));
    return result;
  }

  // What stands before the loop.
  std::vector<Stmt> before() const {
    std::vector<Stmt> stmts = declared_;
    if (!first_.empty()) stmts.push_back(If::make(condition_, Block::make(first_)));
    return stmts;
  }

 private:
  // The load of one whole number, as it is or converted.
  const Load* coordinate(const Expr& value) const {
    const auto* cast = value.as<Cast>();
    const auto* load = (cast ? cast->value : value).as<Load>();
    const bool whole = load && !load->predicate && !load->type.is_vector() &&
                       !load->type.is_float() && !load->type.is_bool();
    return whole && read_only_.contains(load->buffer->name) ? load : nullptr;
  }

  // The index as it follows from the counter; null where it does not.
  Expr place_of(const Expr& index) const {
    Expr place = index;
    for (const std::string& name : names_read(index)) {
      if (const auto found = known_.find(name); found != known_.end()) {
        place = substitute(place, name, found->second);
      } else if (name != counter_.name && written_.contains(name)) {
        return {};
      }
    }
    return names_read(place).contains(counter_.name) && !has_load(place) ? place : Expr();
  }

  void remember(const Let& let) {
    const Expr value = place_of(let.value);
    if (value) known_[let.name] = value;
  }

  static bool has_load(const Expr& expr) {
    bool found = false;
    visit(expr, [&](const Expr& part) {
      found |= part->kind == ExprKind::Load || part->kind == ExprKind::LaneReduce ||
               part->kind == ExprKind::LaneShuffle;
    });
    return found;
  }

  const std::string& next() {
    if (next_.empty()) next_ = names_.fresh(counter_.name + "_ahead");
    return next_;
  }

  // Where the next iteration begins; the last one stays where it is.
  Expr next_place() const {
    const Expr here = Var::make(counter_.name), there = here + counter_.step;
    return Select::make(there < counter_.end, there, here);
  }

  const std::set<std::string>& read_only_;
  Expr condition_;
  LoopCounter counter_;
  std::set<std::string> written_;  // in the loop
  Names& names_;
  std::string next_;
  std::map<std::string, Expr> known_;  // names of the body that follow from the counter
  std::vector<Stmt> declared_, first_;
};

class LoadAhead : public Rewriter {
 public:
  explicit LoadAhead(const Kernel& kernel) : names_(kernel) {
    for (const BufferParam& buffer : kernel.buffers) {
      if (!buffer.writable) read_only_.insert(buffer.buffer->name);
    }
  }

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const Stmt result = Rewriter::rewrite(stmt);
    const auto* loop = result.as<While>();
    if (!loop || lanes_together(*loop) == 1) return result;
    const std::optional<LoopCounter> counter = counter_of(*loop);
    if (!counter) return result;
    Ahead ahead(read_only_, *loop, *counter, names_);
    const Stmt changed = with_front(*loop, ahead.rewritten(front_of(*loop)));
    std::vector<Stmt> stmts = ahead.before();
    if (stmts.empty()) return result;
    stmts.push_back(changed);
    return Block::make(std::move(stmts));
  }

 private:
  Names names_;
  std::set<std::string> read_only_;
};

}  // namespace

Kernel load_ahead(Kernel kernel) {
  kernel.body = LoadAhead(kernel).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
