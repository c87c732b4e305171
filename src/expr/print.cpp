// Prints expressions with the fewest parentheses that parse back to the same tree.
#include "expr/print.h"

#include <charconv>

#include "support/check.h"
#include "support/source.h"

namespace tulle::expr {

namespace {

// How tightly the text of a node binds.
enum class Binding : uint8_t { Sum, Product, Sign, Atom };

// Whether the operation is printed as a function of two arguments.
bool is_call(BinaryOp op) {
  return op == BinaryOp::Max || op == BinaryOp::Min || op == BinaryOp::Within;
}

Binding binding_of(const Expr& expr) {
  if (const auto* binary = expr.as<Binary>()) {
    if (is_call(binary->op)) return Binding::Atom;
    const bool additive = binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub;
    return additive ? Binding::Sum : Binding::Product;
  }
  if (const auto* unary = expr.as<Unary>()) {
    return unary->function == ElementFunction::Neg ? Binding::Sign : Binding::Atom;
  }
  if (const auto* literal = expr.as<Literal>()) {
    return literal->value < 0 ? Binding::Sign : Binding::Atom;
  }
  return Binding::Atom;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

std::string subscripted(const std::string& tensor, const std::vector<std::string>& indices) {
  return indices.empty() ? tensor : concat(tensor, "[", join(indices), "]");
}

std::string text_of(const Literal& literal) {
  if (literal.type == DType::Bool) return literal.value != 0 ? "1:bool" : "0:bool";
  if (literal.is_integer) return concat(static_cast<int64_t>(literal.value));
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, literal.value);
  std::string text(buffer, end);
  const bool looks_integer = text.find_first_not_of("-0123456789") == std::string::npos;
  return looks_integer ? text + ".0" : text;
}

// Prints text and records the position of the node `mark`.
class Printer {
 public:
  explicit Printer(const ExprNode* mark = nullptr) : mark_(mark) {}

  void write(std::string_view text) { text_ += text; }

  void print(const Expr& expr, Binding at_least = Binding::Sum) {
    const bool parentheses = binding_of(expr) < at_least;
    if (parentheses) write("(");
    const size_t begin = text_.size();
    print_bare(expr);
    if (expr.get() == mark_ && mark_length_ == 0) {
      mark_offset_ = begin;
      mark_length_ = text_.size() - begin;
    }
    if (parentheses) write(")");
  }

  const std::string& text() const { return text_; }
  size_t mark_offset() const { return mark_offset_; }
  size_t mark_length() const { return mark_length_; }

 private:
  void print_bare(const Expr& expr) {
    if (const auto* literal = expr.as<Literal>()) {
      write(text_of(*literal));
    } else if (const auto* access = expr.as<Access>()) {
      write(subscripted(access->tensor, access->indices));
    } else if (const auto* unary = expr.as<Unary>()) {
      print_unary(*unary);
    } else if (const auto* binary = expr.as<Binary>()) {
      print_binary(*binary, binding_of(expr));
    } else if (const auto* choose = expr.as<Choose>()) {
      print_call("where", {choose->condition, choose->yes, choose->no});
    } else if (const auto* value = expr.as<IndexValue>()) {
      write(concat(value->is_extent ? "extent(" : "index(", value->index, ")"));
    } else if (const auto* softmax = expr.as<Softmax>()) {
      write(concat(softmax->is_log ? "log_softmax(" : "softmax(", softmax->index));
      print_domain(softmax->body, true);
      write(")");
    } else if (const auto* reduce = expr.as<Reduce>()) {
      print_reduce(*reduce);
    }
  }

  void print_call(std::string_view name, const std::vector<Expr>& arguments) {
    write(concat(name, "("));
    for (size_t at = 0; at < arguments.size(); ++at) {
      if (at > 0) write(", ");
      print(arguments[at]);
    }
    write(")");
  }

  // Prints the part after the index: the domain and the body.
  void print_domain(const Expr& body, bool stored) {
    const auto* within = body.as<Binary>();
    if (stored && within && within->op == BinaryOp::Within) {
      write(" in ");
      print(within->a);
      write(", ");
      print(within->b);
    } else {
      write(stored ? " stored, " : ", ");
      print(body);
    }
  }

  void print_reduce(const Reduce& reduce) {
    const std::string indices = join(reduce.indices);
    write(concat(expr::text_of(reduce.op), "(",
                 reduce.indices.size() == 1 ? indices : concat("(", indices, ")")));
    print_domain(reduce.body, reduce.stored);
    if (reduce.empty)
      write(concat(", empty=", text_of(Literal(DType::Float32, *reduce.empty, false))));
    write(")");
  }

  void print_unary(const Unary& unary) {
    if (unary.function == ElementFunction::Neg) {
      write("-");
      print(unary.value, Binding::Sign);
    } else {
      write(concat(expr::text_of(unary.function), "("));
      print(unary.value);
      write(")");
    }
  }

  void print_binary(const Binary& binary, Binding binding) {
    if (is_call(binary.op)) return print_call(expr::text_of(binary.op), {binary.a, binary.b});
    print(binary.a, binding);
    write(concat(" ", expr::text_of(binary.op), " "));
    print(binary.b, static_cast<Binding>(static_cast<uint8_t>(binding) + 1));
  }

  const ExprNode* mark_;
  std::string text_;
  size_t mark_offset_ = 0;
  size_t mark_length_ = 0;
};

}  // namespace

std::string to_string(const Expr& expr) {
  Printer printer;
  printer.print(expr);
  return printer.text();
}

bool is_same(const Expr& one, const Expr& other) {
  return one.type() == other.type() && to_string(one) == to_string(other);
}

std::string to_string(const Statement& statement) {
  return concat(subscripted(statement.tensor, statement.indices), " = ",
                to_string(statement.value));
}

std::string to_string(const ParsedProgram& program) {
  std::string text;
  for (const Statement& statement : program.statements) text += to_string(statement) + "\n";
  return text;
}

std::string called(const Access& access) {
  return access.place.called.empty() ? concat("'", access.tensor, "'") : access.place.called;
}

void fail_in(const Statement& statement, const ExprNode* at, const std::string& message) {
  const SourcePlace& place = at ? at->place : statement.place;
  if (place.all) fail_at(place.all, message);
  Printer printer(at);
  const std::string left = subscripted(statement.tensor, statement.indices);
  printer.write(left + " = ");
  printer.print(statement.value);
  const size_t length = printer.mark_length() > 0 ? printer.mark_length() : left.size();
  const auto source = std::make_shared<const Source>(Source{printer.text(), "index notation"});
  fail_at({source, printer.mark_offset(), length}, message);
}

void fail_at_index(const Statement& statement, const ExprNode* at, size_t index,
                   const std::string& message, const Span& also) {
  const SourcePlace& place = at ? at->place : statement.place;
  if (place.index(index)) fail_at(place.index(index), message, also);
  fail_in(statement, at, message);
}

}  // namespace tulle::expr
