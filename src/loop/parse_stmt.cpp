// The statement parser. The first word selects the kind of statement; statements need no
// separators.
#include "loop/parse_stmt.h"

#include "support/check.h"

namespace tulle::loop {

namespace {

constexpr std::string_view kAtomic = "atomic_";

constexpr ForKind kLoopKinds[] = {ForKind::Serial,   ForKind::Parallel, ForKind::Vector,
                                  ForKind::Unrolled, ForKind::Block,    ForKind::Warp,
                                  ForKind::Lane,     ForKind::Thread};

std::optional<RuntimeFunction> runtime_function_from(std::string_view word) {
#define X(name, text) \
  if (word == text) return RuntimeFunction::name;
  TULLE_RUNTIME_FUNCTIONS(X)
#undef X
  return std::nullopt;
}

}  // namespace

Stmt LoopStmtParser::parse_block() {
  const DeclaredNames outside = names_;
  scanner_.expect("{");
  std::vector<Stmt> stmts;
  while (!scanner_.accept("}")) stmts.push_back(parse());
  names_ = outside;
  return Block::make(std::move(stmts));
}

Stmt LoopStmtParser::parse() {
  const Token token = scanner_.peek();
  if (token.is("{")) return parse_block();
  if (token.kind != TokenKind::Identifier) scanner_.fail(token, "expected a statement or '}'");
  if (token.is("let") || token.is("var")) return parse_declaration();
  if (at_loop()) return parse_for();
  if (token.is("while")) return parse_while();
  if (token.is("if")) return parse_if();
  if (scanner_.accept("nontemporal")) return parse_store(true);
  const Token after = scanner_.peek(1);
  if (after.is("(")) return parse_call();
  if (after.is("[")) return parse_store(false);
  const std::string name = exprs_.parse_name("a statement");
  if (!scanner_.accept("=")) scanner_.fail(token, "expected a statement");
  return scanner_.accept("alloc") ? parse_allocate(name) : parse_assign(name, token);
}

// let x: T = e, var x: T = e, let x: T = atomic_add(C[i], e)
Stmt LoopStmtParser::parse_declaration() {
  const bool is_let = scanner_.next().is("let");
  const std::string name = exprs_.parse_name("a name");
  scanner_.expect(":");
  const Token type_at = scanner_.peek();
  const Type type = exprs_.parse_type();
  scanner_.expect("=");
  Stmt stmt;
  if (is_let && scanner_.peek().text.starts_with(kAtomic) && scanner_.peek(1).is("(")) {
    stmt = parse_atomic(name);
    if (type != Type{stmt.as<Atomic>()->buffer->element, 1}) {
      scanner_.fail(type_at,
                    concat("the old value is ", name_of(stmt.as<Atomic>()->buffer->element)));
    }
  } else {
    Expr value = exprs_.parse_typed(type, concat("the value of ", name));
    stmt = is_let ? Let::make(name, value) : Declare::make(name, value);
  }
  names_.scalars[name] = type;
  return stmt;
}

// Whether a loop starts here: `for`, `vector(16) for`. Elsewhere the words before `for` may be
// names. A barrier may precede a loop: barrier(block) for ...
bool LoopStmtParser::at_loop() const {
  const bool has_number = scanner_.peek(1).is("(") && scanner_.peek(2).kind == TokenKind::Integer &&
                          scanner_.peek(3).is(")");
  return scanner_.peek().is("for") || scanner_.peek(1).is("for") ||
         (has_number && scanner_.peek(4).is("for"));
}

Stmt LoopStmtParser::parse_for() {
  ForKind kind = ForKind::Serial;
  int factor = 0;
  if (const Token token = scanner_.peek(); !token.is("for")) {
    scanner_.next();
    for (const ForKind candidate : kLoopKinds) {
      if (token.text == text_of(candidate)) kind = candidate;
    }
    if (kind == ForKind::Serial)
      scanner_.fail(token, "expected parallel, vector, unrolled, block, warp, lane or thread");
    if (scanner_.accept("(")) {
      factor = exprs_.parse_small("the factor", 1, 1024);
      scanner_.expect(")");
    }
  }
  scanner_.expect("for");
  const std::string var = exprs_.parse_name("the loop's variable");
  scanner_.expect("in");
  scanner_.expect("[");
  Expr begin = exprs_.parse_typed(kIndex, "the lower bound");
  scanner_.expect(",");
  Expr end = exprs_.parse_typed(kIndex, "the upper bound");
  scanner_.expect(")");
  int64_t step = 1;
  if (scanner_.accept("by")) {
    const Token at = scanner_.peek();
    step = scanner_.expect_integer("the step");
    if (step < 1) scanner_.fail(at, "the step must be positive");
  }
  const DeclaredNames outside = names_;
  names_.scalars[var] = kIndex;
  Stmt body = parse_block();
  names_ = outside;
  return For::make(var, begin, end, body, kind, factor, step);
}

Stmt LoopStmtParser::parse_while() {
  scanner_.expect("while");
  scanner_.expect("(");
  Expr condition = exprs_.parse_typed(kBool, "the condition");
  scanner_.expect(")");
  return While::make(condition, parse_block());
}

Stmt LoopStmtParser::parse_if() {
  scanner_.expect("if");
  scanner_.expect("(");
  Expr condition = exprs_.parse_typed(kBool, "the condition");
  scanner_.expect(")");
  Stmt yes = parse_block();
  if (!scanner_.accept("else")) return If::make(condition, yes);
  return If::make(condition, yes, scanner_.peek().is("if") ? parse_if() : parse_block());
}

// Parses the text after `name = alloc`.
Stmt LoopStmtParser::parse_allocate(const std::string& name) {
  const bool zeroed = scanner_.accept("zeroed");
  const Token at = scanner_.expect(TokenKind::Identifier, "a memory space");
  for (const Space space : {Space::Shared, Space::Local, Space::Workspace}) {
    if (at.text != text_of(space)) continue;
    const DType element = exprs_.parse_dtype();
    scanner_.expect("[");
    Expr size = exprs_.parse_typed(kIndex, "the size");
    scanner_.expect("]");
    Buffer buffer = make_buffer(name, element, space);
    names_.buffers[name] = buffer;
    return Allocate::make(buffer, size, zeroed);
  }
  scanner_.fail(at, "expected shared, local or workspace");
}

// Parses the text after `name =`.
Stmt LoopStmtParser::parse_assign(const std::string& name, const Token& at) {
  const auto found = names_.scalars.find(name);
  if (found == names_.scalars.end())
    scanner_.fail(at, concat("no variable is called '", name, "'"));
  return Assign::make(name, exprs_.parse_typed(found->second, concat("the value of ", name)));
}

Stmt LoopStmtParser::parse_store(bool nontemporal) {
  const auto [buffer, index, predicate] = exprs_.parse_element();
  scanner_.expect("=");
  Expr value = exprs_.parse_typed({buffer->element, index.type().lanes}, "the value stored");
  return Store::make(buffer, index, value, predicate, nontemporal);
}

// atomic_add(C[i], e)
Stmt LoopStmtParser::parse_atomic(const std::string& result) {
  const Token word = scanner_.next();
  const auto op = reduce_op_from(word.text.substr(kAtomic.size()));
  if (!op) scanner_.fail(word, "expected atomic_ and add, mul, min, max, and, or");
  scanner_.expect("(");
  const Token at = scanner_.peek();
  const auto [buffer, index, predicate] = exprs_.parse_element();
  if (predicate) scanner_.fail(at, "an atomic has no predicate");
  scanner_.expect(",");
  Expr value = exprs_.parse_typed({buffer->element, index.type().lanes}, "the value");
  scanner_.expect(")");
  return Atomic::make(*op, buffer, index, value, result);
}

// A statement of the form word(...).
Stmt LoopStmtParser::parse_call() {
  const Token word = scanner_.peek();
  if (word.text.starts_with(kAtomic)) return parse_atomic("");
  scanner_.next();
  scanner_.expect("(");
  Stmt stmt;
  if (word.is("barrier")) {
    const Token scope = scanner_.next();
    if (!scope.is("warp") && !scope.is("block")) scanner_.fail(scope, "expected warp or block");
    stmt = Barrier::make(scope.is("warp") ? BarrierScope::Warp : BarrierScope::Block);
  } else if (word.is("prefetch")) {
    const Token at = scanner_.peek();
    const auto [buffer, index, predicate] = exprs_.parse_element();
    if (predicate || index.type() != kIndex) scanner_.fail(at, "a prefetch takes a single element");
    scanner_.expect(",");
    stmt = PrefetchLine::make(buffer, index, exprs_.parse_small("the cache level", 1, 3));
  } else if (const auto function = runtime_function_from(word.text)) {
    Buffer buffer = exprs_.parse_buffer();
    std::vector<Expr> args;
    while (scanner_.accept(",")) args.push_back(exprs_.parse());
    stmt = Invoke::make(*function, buffer, std::move(args));
  } else {
    scanner_.fail(word, "expected a statement");
  }
  scanner_.expect(")");
  return stmt;
}

}  // namespace tulle::loop
