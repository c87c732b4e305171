// Finds the loads at the front of a loop's body, and keeps what they find in variables.
#include "passes/load_ahead.h"

#include <map>
#include <optional>
#include <set>

#include "loop/rewrite.h"
#include "passes/names.h"

namespace tulle::passes {

using namespace loop;

namespace {

// p and how far it goes in an iteration, where the loop is one over positions.
struct Counter {
  std::string name;
  Expr end, step;
};

// Whether lanes combine what they have, and nothing is added up by atomics: SDDMM in panels was
// slower with loads ahead where it was measured.
bool combines_lanes(const Stmt& body) {
  bool combines = false, adds = false;
  visit(
      body, [&](const Stmt& stmt) { adds |= stmt->kind == StmtKind::Atomic; },
      [&](const Expr& expr) {
        combines |= expr->kind == ExprKind::LaneReduce || expr->kind == ExprKind::LaneShuffle;
      });
  return combines && !adds;
}

int assignments_to(const std::string& name, const Stmt& body) {
  int count = 0;
  visit(
      body,
      [&](const Stmt& stmt) {
        const auto* assign = stmt.as<Assign>();
        count += assign && assign->name == name ? 1 : 0;
      },
      [](const Expr&) {});
  return count;
}

std::optional<Counter> counter_of(const While& loop, const std::vector<Stmt>& body) {
  const auto* below = loop.condition.as<Binary>();
  const auto* var = below && below->op == BinaryOp::Lt ? below->a.as<Var>() : nullptr;
  const auto* last = body.empty() ? nullptr : body.back().as<Assign>();
  if (!var || !last || last->name != var->name) return std::nullopt;
  const auto* sum = last->value.as<Binary>();
  const auto* from = sum && sum->op == BinaryOp::Add ? sum->a.as<Var>() : nullptr;
  if (!from || from->name != var->name || !sum->b.as<IntConst>()) return std::nullopt;
  if (assignments_to(var->name, loop.body) != 1) return std::nullopt;
  const std::set<std::string> written = names_written(loop.body);
  for (const std::string& name : names_read(below->b)) {
    if (written.contains(name)) return std::nullopt;
  }
  return Counter{var->name, below->b, sum->b};
}

// What is loaded ahead of one loop.
class Ahead {
 public:
  Ahead(const std::set<std::string>& read_only, const While& loop, Counter counter, Names& names)
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
  Counter counter_;
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
    if (!loop || !combines_lanes(loop->body)) return result;
    std::vector<Stmt> body = statements_of(loop->body);
    const std::optional<Counter> counter = counter_of(*loop, body);
    if (!counter) return result;
    Ahead ahead(read_only_, *loop, *counter, names_);
    // Copies of the body may stand in a block of their own.
    const auto* inner = body.front().as<Block>();
    if (inner) {
      body.front() = Block::make(ahead.rewritten(inner->stmts));
    } else {
      body = ahead.rewritten(body);
    }
    std::vector<Stmt> stmts = ahead.before();
    if (stmts.empty()) return result;
    stmts.push_back(While::make(loop->condition, Block::make(std::move(body))));
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
