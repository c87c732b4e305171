// Recognises counters by the last statement of a loop and groups of lanes by lane operations.
#include "passes/counted_loop.h"

#include <algorithm>
#include <map>

#include "loop/rewrite.h"
#include "loop/used_names.h"

namespace tulle::passes {

using namespace loop;

namespace {

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

bool has_load(const Expr& expr) {
  bool found = false;
  visit(expr, [&](const Expr& part) {
    found |= part->kind == ExprKind::Load || part->kind == ExprKind::LaneReduce ||
             part->kind == ExprKind::LaneShuffle;
  });
  return found;
}

// The value as a function of the counter; null if it depends on anything else that changes.
Expr place_of(const Expr& value, const std::string& counter, const std::set<std::string>& written,
              const std::map<std::string, Expr>& known) {
  Expr place = value;
  for (const std::string& name : names_read(value)) {
    if (const auto found = known.find(name); found != known.end()) {
      place = substitute(place, name, found->second);
    } else if (name != counter && written.contains(name)) {
      return {};
    }
  }
  return names_read(place).contains(counter) && !has_load(place) ? place : Expr();
}

}  // namespace

std::optional<LoopCounter> counter_of(const While& loop) {
  const std::vector<Stmt> body = statements_of(loop.body);
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
  return LoopCounter{var->name, below->b, sum->b};
}

std::vector<Stmt> front_of(const While& loop) {
  const std::vector<Stmt> body = statements_of(loop.body);
  const auto* inner = body.empty() ? nullptr : body.front().as<Block>();
  return inner ? inner->stmts : body;
}

Stmt with_front(const While& loop, std::vector<Stmt> front) {
  std::vector<Stmt> body = statements_of(loop.body);
  if (body.empty() || !body.front().as<Block>()) {
    body = std::move(front);
  } else {
    body.front() = Block::make(std::move(front));
  }
  return While::make(loop.condition, Block::make(std::move(body)));
}

std::vector<Coordinate> coordinates_of(const std::vector<Stmt>& front, const While& loop,
                                       const std::string& counter,
                                       const std::set<std::string>& read_only) {
  const std::set<std::string> written = names_written(loop.body);
  std::map<std::string, Expr> known;  // leading names that are functions of the counter
  std::vector<Coordinate> found;
  for (size_t at = 0; at < front.size(); ++at) {
    const auto* let = front[at].as<Let>();
    if (!let) continue;
    const auto* cast = let->value.as<Cast>();
    const auto* load = (cast ? cast->value : let->value).as<Load>();
    const Expr place = place_of(load ? load->index : let->value, counter, written, known);
    if (!place) continue;
    const bool is_number = load && !load->predicate && !load->type.is_vector() &&
                           !load->type.is_float() && !load->type.is_bool();
    if (is_number && read_only.contains(load->buffer->name))
      found.push_back({at, let, load, place});
    if (!load) known[let->name] = place;
  }
  return found;
}

int lanes_together(const While& loop) {
  int lanes = 1;
  visit(
      loop.body, [](const Stmt&) {},
      [&](const Expr& expr) {
        if (const auto* sum = expr.as<LaneReduce>()) lanes = std::max(lanes, sum->width);
        if (const auto* shuffle = expr.as<LaneShuffle>()) lanes = std::max(lanes, shuffle->width);
      });
  return lanes;
}

}  // namespace tulle::passes
