// The printer. Expressions have as few parentheses as in C, statements are indented by two.
#include "loop/print.h"

#include "loop/literal.h"
#include "loop/precedence.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

std::string print(const Expr& expr, int outer);

template <typename... Exprs>
std::string arguments(const Expr& first, const Exprs&... rest) {
  return concat(print(first, 0), concat(", ", print(rest, 0))...);
}

std::string print_binary(const Binary& node, int outer) {
  const int own = precedence_of(node.op);
  if (own == 0) return concat(text_of(node.op), "(", arguments(node.a, node.b), ")");
  const std::string text =
      concat(print(node.a, own), " ", text_of(node.op), " ", print(node.b, own + 1));
  return own < outer ? concat("(", text, ")") : text;
}

std::string print_call(const Call& node) {
  std::string text = concat(text_of(node.function), "(");
  for (size_t i = 0; i < node.args.size(); ++i) text += (i ? ", " : "") + print(node.args[i], 0);
  return text + ")";
}

// buffer[index], buffer[index if predicate]
std::string element(const Buffer& buffer, const Expr& index, const Expr& predicate = {}) {
  const std::string condition = predicate ? concat(" if ", print(predicate, 0)) : "";
  return concat(name_text(buffer->name), "[", print(index, 0), condition, "]");
}

// An expression with at least the precedence `outer` needs no parentheses.
std::string print(const Expr& expr, int outer) {
  switch (expr->kind) {
    case ExprKind::IntConst:
      return literal(*expr.as<IntConst>());
    case ExprKind::FloatConst:
      return literal(*expr.as<FloatConst>());
    case ExprKind::Var:
      return name_text(expr.as<Var>()->name);
    case ExprKind::Binary:
      return print_binary(*expr.as<Binary>(), outer);
    case ExprKind::Select: {
      const auto* node = expr.as<Select>();
      return concat("select(", arguments(node->condition, node->yes, node->no), ")");
    }
    case ExprKind::Cast:
      return concat(name_of(expr.type().scalar), "(", print(expr.as<Cast>()->value, 0), ")");
    case ExprKind::Call:
      return print_call(*expr.as<Call>());
    case ExprKind::Load: {
      const auto* node = expr.as<Load>();
      return element(node->buffer, node->index, node->predicate);
    }
    case ExprKind::Ramp: {
      const auto* node = expr.as<Ramp>();
      return concat("ramp(", arguments(node->base, node->stride), ", ", expr.type().lanes, ")");
    }
    case ExprKind::Broadcast:
      return concat("broadcast(", print(expr.as<Broadcast>()->value, 0), ", ", expr.type().lanes,
                    ")");
    case ExprKind::VectorReduce: {
      const auto* node = expr.as<VectorReduce>();
      return concat("vector_reduce(", text_of(node->op), ", ", print(node->value, 0), ")");
    }
    case ExprKind::LaneReduce: {
      const auto* node = expr.as<LaneReduce>();
      return concat("lane_reduce(", text_of(node->op), ", ", print(node->value, 0), ", ",
                    node->width, ")");
    }
    case ExprKind::LaneShuffle: {
      const auto* node = expr.as<LaneShuffle>();
      return concat("lane_shuffle(", text_of(node->mode), ", ", arguments(node->value, node->lane),
                    ", ", node->width, ")");
    }
  }
  internal_error("an expression of unknown kind");
}

std::string declaration(std::string_view word, const std::string& name, Type type) {
  return concat(word, " ", name_text(name), ": ", to_string(type), " = ");
}

std::string loop_header(const For& node) {
  std::string text;
  if (node.loop != ForKind::Serial) text += concat(text_of(node.loop), " ");
  if (node.factor != 0) text.insert(text.size() - 1, concat("(", node.factor, ")"));
  text += concat("for ", name_text(node.var), " in [", print(node.begin, 0), ", ",
                 print(node.end, 0), ")");
  return node.step == 1 ? text : concat(text, " by ", node.step);
}

// Writes statements, one per line.
class StmtPrinter {
 public:
  explicit StmtPrinter(int depth = 0) : depth_(depth) {}

  void print(const Stmt& stmt) {
    if (stmt.as<Block>()) {
      open("{");
      body(stmt);
      close("}");
    } else if (const auto* node = stmt.as<For>()) {
      open(loop_header(*node) + " {");
      body(node->body);
      close("}");
    } else if (const auto* node = stmt.as<While>()) {
      open(concat("while (", to_string(node->condition), ") {"));
      body(node->body);
      close("}");
    } else if (const auto* node = stmt.as<If>()) {
      print_if(*node, "");
    } else {
      line(simple(stmt));
    }
  }

  // Writes the statements of a block, or a single statement as a body.
  void body(const Stmt& stmt) {
    if (const auto* block = stmt.as<Block>()) {
      for (const Stmt& inner : block->stmts) print(inner);
    } else {
      print(stmt);
    }
  }

  void open(const std::string& text) {
    line(text);
    ++depth_;
  }

  void close(const std::string& text) {
    --depth_;
    line(text);
  }

  void line(const std::string& text) { text_ += std::string(2 * depth_, ' ') + text + "\n"; }

  std::string take() { return std::move(text_); }

 private:
  void print_if(const If& node, const std::string& prefix) {
    open(concat(prefix, "if (", to_string(node.condition), ") {"));
    body(node.yes);
    if (const auto* other = node.no.as<If>()) {
      --depth_;
      return print_if(*other, "} else ");
    }
    if (node.no) {
      close("} else {");
      ++depth_;
      body(node.no);
    }
    close("}");
  }

  // A statement that takes one line.
  static std::string simple(const Stmt& stmt) {
    switch (stmt->kind) {
      case StmtKind::Let: {
        const auto* node = stmt.as<Let>();
        return declaration("let", node->name, node->value.type()) + to_string(node->value);
      }
      case StmtKind::Declare: {
        const auto* node = stmt.as<Declare>();
        return declaration("var", node->name, node->init.type()) + to_string(node->init);
      }
      case StmtKind::Assign:
        return concat(name_text(stmt.as<Assign>()->name), " = ",
                      to_string(stmt.as<Assign>()->value));
      case StmtKind::Store: {
        const auto* node = stmt.as<Store>();
        return concat(node->nontemporal ? "nontemporal " : "",
                      element(node->buffer, node->index, node->predicate), " = ",
                      to_string(node->value));
      }
      case StmtKind::Allocate: {
        const auto* node = stmt.as<Allocate>();
        return concat(name_text(node->buffer->name), " = alloc ", node->zeroed ? "zeroed " : "",
                      text_of(node->buffer->space), " ", name_of(node->buffer->element), "[",
                      to_string(node->size), "]");
      }
      case StmtKind::Atomic: {
        const auto* node = stmt.as<Atomic>();
        const std::string result =
            node->result.empty() ? ""
                                 : declaration("let", node->result, {node->buffer->element, 1});
        return concat(result, "atomic_", text_of(node->op), "(", element(node->buffer, node->index),
                      ", ", to_string(node->value), ")");
      }
      case StmtKind::Barrier:
        return concat("barrier(", text_of(stmt.as<Barrier>()->scope), ")");
      case StmtKind::PrefetchLine: {
        const auto* node = stmt.as<PrefetchLine>();
        return concat("prefetch(", element(node->buffer, node->index), ", ", node->locality, ")");
      }
      case StmtKind::Invoke: {
        const auto* node = stmt.as<Invoke>();
        std::string text = concat(text_of(node->function), "(", name_text(node->buffer->name));
        for (const Expr& arg : node->args) text += ", " + to_string(arg);
        return text + ")";
      }
      default:
        internal_error("a statement of unknown kind");
    }
  }

  std::string text_;
  int depth_;
};

// (A: f32*, C: mut f32*; n: i64)
std::string parameters(const std::vector<BufferParam>& buffers,
                       const std::vector<ScalarParam>& scalars) {
  std::string text = "(";
  for (size_t i = 0; i < buffers.size(); ++i) {
    const BufferParam& param = buffers[i];
    text += concat(i ? ", " : "", name_text(param.buffer->name), ": ", param.writable ? "mut " : "",
                   name_of(param.buffer->element), "*");
  }
  for (size_t i = 0; i < scalars.size(); ++i) {
    text += concat(i ? ", " : "; ", name_text(scalars[i].name), ": ", to_string(scalars[i].type));
  }
  return text + ")";
}

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::string range(const Buffer& buffer, const Expr& length) {
  return concat(name_text(buffer->name), "[0, ", to_string(length), ")");
}

}  // namespace

std::string to_string(const Expr& expr) { return print(expr, 0); }

std::string to_string(const Stmt& stmt) {
  StmtPrinter printer;
  printer.print(stmt);
  return printer.take();
}

std::string to_string(const Kernel& kernel) {
  StmtPrinter printer;
  printer.open(concat("kernel ", kernel.name, parameters(kernel.buffers, kernel.scalars), " {"));
  printer.body(kernel.body);
  printer.close("}");
  return printer.take();
}

std::string to_string(const HostStep& step) {
  return std::visit(
      Overloaded{
          [](const LetStep& s) {
            return declaration("let", s.name, s.value.type()) + to_string(s.value);
          },
          [](const AllocateStep& s) {
            return concat(name_text(s.buffer->name), " = alloc ", s.zeroed ? "zeroed " : "",
                          name_of(s.buffer->element), "[", to_string(s.size), "]");
          },
          [](const LaunchStep& s) { return concat("launch ", s.kernel); },
          [](const ScanStep& s) { return concat("scan ", range(s.buffer, s.length)); },
          [](const ReadStep& s) {
            const std::string limit =
                s.most == INT64_MAX ? std::string()
                                    : concat(" at most ", s.most, s.of_row ? " in a row" : "");
            return concat(declaration("let", s.name, {s.buffer->element, 1}), "read ",
                          element(s.buffer, s.index), limit);
          },
          [](const SortStep& s) {
            std::string text = concat("sort ", range(s.order, s.length), " by ");
            for (size_t i = 0; i < s.keys.size(); ++i)
              text += (i ? ", " : "") + name_text(s.keys[i]->name);
            return text;
          },
          [](const FreeStep& s) { return concat("free ", name_text(s.buffer->name)); },
          [](const KeepStep& s) { return concat("keep ", s.what, " of ", name_text(s.tensor)); },
          [](const KeptStep& s) {
            std::string text = "kept ";
            for (size_t i = 0; i < s.arrays.size(); ++i)
              text += (i ? ", " : "") + name_text(s.arrays[i]->name);
            return text;
          },
      },
      step);
}

std::string to_string(const HostProgram& program) {
  std::string results;
  for (const Buffer& result : program.results)
    results += (results.empty() ? "" : ", ") + name_text(result->name);
  StmtPrinter printer;
  printer.open(concat("host ", program.name, parameters(program.buffers, program.scalars), " -> (",
                      results, ") {"));
  for (const HostStep& step : program.steps) printer.line(to_string(step));
  printer.close("}");
  std::string text = printer.take();
  for (const Kernel& kernel : program.kernels) text += "\n" + to_string(kernel);
  return text;
}

}  // namespace tulle::loop
