// Finds runs of statements that contain several blocks but no loops or barriers.
#include "passes/advance_loads.h"

#include <algorithm>
#include <map>
#include <set>

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "loop/used_names.h"

namespace tulle::passes {

using namespace loop;

namespace {

// Whether code after the statement may be evaluated before it. A loop would have to keep those
// values in registers, and loads must not cross a barrier.
bool may_be_passed(const Stmt& stmt) {
  bool passable = true;
  visit(
      stmt,
      [&](const Stmt& inner) {
        passable &= inner->kind != StmtKind::For && inner->kind != StmtKind::While &&
                    inner->kind != StmtKind::Barrier && inner->kind != StmtKind::Invoke;
      },
      [](const Expr&) {});
  return passable;
}

std::set<std::string> assigned_in(const std::vector<Stmt>& stmts) {
  std::set<std::string> names;
  for (const Stmt& stmt : stmts) {
    visit(
        stmt,
        [&](const Stmt& inner) {
          if (const auto* assign = inner.as<Assign>()) names.insert(assign->name);
        },
        [](const Expr&) {});
  }
  return names;
}

// The buffers that the statements allocate or write.
std::set<std::string> written_in(const std::vector<Stmt>& stmts) {
  std::set<std::string> names;
  for (const Stmt& stmt : stmts) {
    visit(
        stmt,
        [&](const Stmt& inner) {
          if (const auto* store = inner.as<Store>()) names.insert(store->buffer->name);
          if (const auto* atomic = inner.as<Atomic>()) names.insert(atomic->buffer->name);
          if (const auto* allocate = inner.as<Allocate>()) names.insert(allocate->buffer->name);
        },
        [](const Expr&) {});
  }
  return names;
}

// Replaces the uses of moved names.
class Renaming : public Rewriter {
 public:
  void add(const std::string& from, const std::string& to) { names_[from] = to; }

  Expr rewrite(const Expr& expr) override {
    const auto* var = expr.as<Var>();
    if (!var) return Rewriter::rewrite(expr);
    const auto name = names_.find(var->name);
    return name == names_.end() ? expr : Var::make(name->second, var->type);
  }

  Stmt rewrite(const Stmt& stmt) override {
    return names_.empty() ? stmt : Rewriter::rewrite(stmt);
  }

 private:
  std::map<std::string, std::string> names_;
};

// The lets that move out of one run of statements.
class Advance {
 public:
  Advance(const std::set<std::string>& read_only, std::set<std::string> fixed,
          std::set<std::string> written, FreshNames& names)
      : read_only_(read_only),
        stays_(std::move(fixed)),
        written_(std::move(written)),
        names_(names) {}

  // The block without the lets that move.
  Stmt take_from(const Block& block) {
    std::vector<Stmt> kept;
    Renaming renaming;
    for (const Stmt& original : block.stmts) {
      const Stmt stmt = renaming.rewrite(original);
      if (const auto* inner = stmt.as<Block>()) {
        kept.push_back(take_from(*inner));
        continue;
      }
      const auto* let = stmt.as<Let>();
      if (!let || !may_move(let->value)) {
        if (let) stays_.insert(let->name);
        if (const auto* declare = stmt.as<Declare>()) stays_.insert(declare->name);
        if (const auto* atomic = stmt.as<Atomic>()) stays_.insert(atomic->result);
        kept.push_back(stmt);
        continue;
      }
      const std::string name = names_.fresh(let->name);
      move(name, let->value);
      renaming.add(let->name, name);
    }
    return Block::make(std::move(kept));
  }

  // Appends the moved lets, in order.
  void append_to(std::vector<Stmt>& stmts) const {
    for (const auto& [round, lets] : rounds_) stmts.insert(stmts.end(), lets.begin(), lets.end());
  }

 private:
  bool may_move(const Expr& value) const {
    bool may = true;
    visit(value, [&](const Expr& expr) {
      if (const auto* var = expr.as<Var>()) may &= !stays_.contains(var->name);
      if (const auto* load = expr.as<Load>()) may &= stays_the_same(*load->buffer);
      may &= expr->kind != ExprKind::LaneReduce && expr->kind != ExprKind::LaneShuffle;
    });
    return may;
  }

  // Whether no thread writes the buffer, or whether it is private to the thread and the run does
  // not write it.
  bool stays_the_same(const BufferNode& buffer) const {
    return read_only_.contains(buffer.name) ||
           (buffer.space == Space::Local && !written_.contains(buffer.name));
  }

  void move(const std::string& name, const Expr& value) {
    int round = 0;
    bool loads = false;
    visit(value, [&](const Expr& expr) {
      const auto* var = expr.as<Var>();
      if (const auto found = var ? ready_.find(var->name) : ready_.end(); found != ready_.end())
        round = std::max(round, found->second);
      loads |= expr.as<Load>() != nullptr;
    });
    rounds_[round].push_back(Let::make(name, value));
    ready_[name] = round + loads;
  }

  const std::set<std::string>& read_only_;
  std::set<std::string>
      stays_;  // names that do not exist yet, or do not have their final value, at the front
  std::set<std::string> written_;  // buffers
  FreshNames& names_;
  std::map<int, std::vector<Stmt>> rounds_;  // by the depth of loads on which they depend
  std::map<std::string, int> ready_;         // the round after which each moved name is available
};

class Advancer : public Rewriter {
 public:
  explicit Advancer(const Kernel& kernel) : names_(kernel), read_only_(read_only_buffers(kernel)) {}

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    const Stmt result = Rewriter::rewrite(stmt);
    const auto* block = result.as<Block>();
    if (!block) return result;
    std::vector<Stmt> stmts, run;
    for (const Stmt& inner : block->stmts) {
      if (may_be_passed(inner)) {
        run.push_back(inner);
        continue;
      }
      advance(std::move(run), stmts);
      run.clear();
      stmts.push_back(inner);
    }
    advance(std::move(run), stmts);
    return Block::make(std::move(stmts));
  }

 private:
  void advance(std::vector<Stmt> run, std::vector<Stmt>& stmts) {
    const auto is_block = [](const Stmt& stmt) { return stmt.as<Block>() != nullptr; };
    const auto first = std::find_if(run.begin(), run.end(), is_block);
    if (std::count_if(first, run.end(), is_block) < 2) {
      stmts.insert(stmts.end(), run.begin(), run.end());
      return;
    }
    std::vector<Stmt> rest(first, run.end());
    std::set<std::string> stays = assigned_in(rest);
    for (const Stmt& stmt : rest) {
      if (const auto* let = stmt.as<Let>()) stays.insert(let->name);
      if (const auto* declare = stmt.as<Declare>()) stays.insert(declare->name);
      if (const auto* atomic = stmt.as<Atomic>()) stays.insert(atomic->result);
    }
    Advance lets(read_only_, std::move(stays), written_in(rest), names_);
    for (Stmt& stmt : rest) {
      if (const auto* block = stmt.as<Block>()) stmt = lets.take_from(*block);
    }
    stmts.insert(stmts.end(), run.begin(), first);
    lets.append_to(stmts);
    stmts.insert(stmts.end(), rest.begin(), rest.end());
  }

  FreshNames names_;
  std::set<std::string> read_only_;
};

}  // namespace

Kernel advance_loads(Kernel kernel) {
  kernel.body = Advancer(kernel).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
