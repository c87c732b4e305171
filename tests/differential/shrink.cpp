// Shrinks cases. Each candidate is simpler than the case in one respect.
#include "differential/shrink.h"

#include <algorithm>
#include <set>

#include "expr/program.h"
#include "schedule/schedule.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

using expr::Expr;

// All variants of the expression in which one of its nodes is replaced by a part of that node.
std::vector<Expr> simpler(const Expr& expr) {
  std::vector<Expr> found;
  if (const auto* unary = expr.as<expr::Unary>()) {
    found.push_back(unary->value);
    for (const Expr& value : simpler(unary->value))
      found.push_back(expr::Unary::make(unary->function, value));
  } else if (const auto* sum = expr.as<expr::Reduce>()) {
    found.push_back(sum->body);
    for (const Expr& body : simpler(sum->body))
      found.push_back(expr::with_children(expr, [&](const Expr&) { return body; }));
    if (sum->op != expr::Reduction::Sum)
      found.push_back(expr::Reduce::make(sum->indices, sum->body));
  } else if (const auto* choose = expr.as<expr::Choose>()) {
    for (const Expr& child : expr::children(expr)) found.push_back(child);
    for (const Expr& yes : simpler(choose->yes))
      found.push_back(expr::Choose::make(choose->condition, yes, choose->no));
    for (const Expr& no : simpler(choose->no))
      found.push_back(expr::Choose::make(choose->condition, choose->yes, no));
  } else if (const auto* binary = expr.as<expr::Binary>()) {
    found.push_back(binary->a);
    found.push_back(binary->b);
    for (const Expr& a : simpler(binary->a))
      found.push_back(expr::Binary::make(binary->op, a, binary->b));
    for (const Expr& b : simpler(binary->b))
      found.push_back(expr::Binary::make(binary->op, binary->a, b));
    if (binary->op != expr::BinaryOp::Mul)
      found.push_back(expr::Binary::make(expr::BinaryOp::Mul, binary->a, binary->b));
  }
  return found;
}

class Candidates {
 public:
  explicit Candidates(const Case& test) : test_(test), program_(expr::parse_program(test.text)) {}

  std::vector<Case> all() {
    settings();
    statements();
    sizes();
    operands();
    return std::move(found_);
  }

 private:
  // Adds the changed case unless `change` has no effect.
  void add(const std::function<void(Case&)>& change) {
    Case changed = test_;
    change(changed);
    if (to_string(changed) != to_string(test_)) found_.push_back(std::move(changed));
  }

  void add_program(const expr::ParsedProgram& program) {
    Case changed = test_;
    changed.text = expr::to_string(program);
    while (!changed.text.empty() && changed.text.back() == '\n') changed.text.pop_back();
    // Removes operands and formats that are no longer used.
    std::set<std::string> used;
    for (const expr::Statement& statement : program.statements) {
      used.insert(statement.tensor);
      for (const expr::Access* access : expr::accesses(statement.value))
        used.insert(access->tensor);
    }
    std::erase_if(changed.operands, [&](const Operand& o) { return !used.contains(o.name); });
    std::erase_if(changed.out_formats,
                  [&](const auto& entry) { return !used.contains(entry.first); });
    if (changed.text != test_.text) found_.push_back(std::move(changed));
  }

  void settings() {
    add([](Case& c) { c.schedule.clear(); });
    add([](Case& c) { c.features.clear(); });
    add([](Case& c) { c.threads = 1; });
    add([](Case& c) { c.small_chunks = false; });
    add([](Case& c) { c.one_body = false; });
    for (const auto& [name, format] : test_.out_formats) {
      add([&](Case& c) { c.out_formats.erase(name); });
      add([&](Case& c) { c.out_formats[name] = "csf"; });
    }
    if (test_.schedule.empty()) return;
    const schedule::Schedule steps = schedule::parse_schedule(test_.schedule);
    for (size_t s = 0; s < steps.steps.size(); ++s) {
      schedule::Schedule fewer = steps;
      fewer.steps.erase(fewer.steps.begin() + static_cast<std::ptrdiff_t>(s));
      add([&](Case& c) { c.schedule = schedule::to_string(fewer); });
    }
  }

  void statements() {
    for (size_t s = 0; s < program_.statements.size(); ++s) {
      if (program_.statements.size() > 1) {
        expr::ParsedProgram fewer = program_;
        fewer.statements.erase(fewer.statements.begin() + static_cast<std::ptrdiff_t>(s));
        add_program(fewer);
      }
      for (const Expr& value : simpler(program_.statements[s].value)) {
        expr::ParsedProgram changed = program_;
        changed.statements[s].value = value;
        // Removes indices that no longer occur on the right.
        const std::vector<std::string> free = expr::free_indices(value);
        std::erase_if(changed.statements[s].indices, [&](const std::string& index) {
          return std::find(free.begin(), free.end(), index) == free.end();
        });
        add_program(changed);
      }
      for (size_t d = 0; d < program_.statements[s].indices.size(); ++d) {
        expr::ParsedProgram changed = program_;
        auto& indices = changed.statements[s].indices;
        indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(d));
        add_program(changed);
      }
    }
  }

  // Shrinks the extents of indices in all operands.
  void sizes() {
    std::map<std::string, std::vector<std::pair<std::string, size_t>>> uses;
    for (const expr::Statement& statement : program_.statements) {
      for (const expr::Access* access : expr::accesses(statement.value)) {
        for (size_t d = 0; d < access->indices.size(); ++d)
          uses[access->indices[d]].push_back({access->tensor, d});
      }
    }
    for (const auto& [index, places] : uses) {
      for (const int64_t less : {-1, 1, 2, 3}) {
        add([&](Case& c) {
          for (const auto& [name, dimension] : places) {
            for (Operand& operand : c.operands) {
              if (operand.name != name) continue;
              int64_t& size = operand.sizes[dimension];
              const int64_t wanted = less < 0 ? size - 1 : less;
              if (wanted < size && wanted >= 0) size = wanted;
            }
          }
        });
      }
    }
  }

  void operands() {
    for (size_t o = 0; o < test_.operands.size(); ++o) {
      const size_t rank = test_.operands[o].sizes.size();
      add([&](Case& c) { c.operands[o].format = "dense"; });
      if (test_.operands[o].format != "dense") {
        if (rank == 2 && test_.operands[o].format != "csf")
          add([&](Case& c) { c.operands[o].format = "csr"; });
        if (rank > 0 && test_.operands[o].format != "csr")
          add([&](Case& c) { c.operands[o].format = "csf"; });
      }
      add([&](Case& c) { c.operands[o].type = DType::Float32; });
      add([&](Case& c) { c.operands[o].index_type = DType::Int32; });
      add([&](Case& c) { c.operands[o].explicit_zeros = false; });
      add([&](Case& c) { c.operands[o].spread = Spread::Even; });
      add([&](Case& c) { c.operands[o].density = 1; });
    }
  }

  const Case& test_;
  expr::ParsedProgram program_;
  std::vector<Case> found_;
};

}  // namespace

Case shrink(Case test, const std::function<bool(const Case&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Case& candidate : Candidates(test).all()) {
      if (!fails(candidate)) continue;
      test = candidate;
      smaller = true;
      break;
    }
  }
  return test;
}

}  // namespace tulle::differential
