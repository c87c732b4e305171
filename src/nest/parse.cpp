// The parser of nests: declarations, loops, and assignments, whose right sides expr/ reads and
// types.
#include "nest/parse.h"

#include <algorithm>
#include <cstdint>

#include "expr/assign_types.h"
#include "nest/verify.h"
#include "support/check.h"
#include "support/scanner.h"

namespace tulle::nest {

namespace {

// A tensor whose format waits for the rank, which the uses tell.
struct Declaration {
  Token name;
  Tensor tensor;
  std::string format;  // empty: dense
};

class NestParser {
 public:
  explicit NestParser(std::string_view text) : scanner_(text, "nest", {.symbols = {"+=", "*="}}) {}

  Nest parse() {
    scanner_.expect("nest");
    scanner_.expect("{");
    while (declaration()) scanner_.accept(";");
    nest_.root = stmt();
    scanner_.expect("}");
    if (!scanner_.at_end()) scanner_.fail(scanner_.peek(), "expected the end of the nest");
    for (const Declaration& declared : declarations_) add_tensor(declared);
    nest_.root = typed(nest_.root);
    return std::move(nest_);
  }

 private:
  std::string name(std::string_view what) {
    return std::string(scanner_.expect(TokenKind::Identifier, what).text);
  }

  // ---- declarations: a keyword and a name, so that no name is reserved
  // ------------------------------------------

  bool declaration() {
    if (scanner_.peek(1).kind != TokenKind::Identifier) return false;
    if (scanner_.accept("operand")) return tensor(Tensor::Role::Operand);
    if (scanner_.accept("result")) return tensor(Tensor::Role::Result);
    if (scanner_.accept("workspace")) return tensor(Tensor::Role::Workspace);
    if (scanner_.accept("extent")) return extent();
    if (scanner_.accept("var")) return variable();
    if (scanner_.accept("prefetch")) {
      const std::string tensor = name("a tensor");
      nest_.prefetches.push_back({tensor, integer("how many entries ahead")});
      return true;
    }
    if (scanner_.accept("nontemporal")) {
      nest_.nontemporal.push_back(name("a tensor"));
      return true;
    }
    return false;
  }

  bool tensor(Tensor::Role role) {
    Declaration declared{.name = scanner_.expect(TokenKind::Identifier, "the tensor's name")};
    declared.tensor.role = role;
    scanner_.expect(":");
    declared.tensor.type.type = dtype();
    while (!ends_line(declared.name)) {
      scanner_.accept(",");
      property(declared);
    }
    declarations_.push_back(std::move(declared));
    return true;
  }

  DType dtype() {
    const Token token = scanner_.expect(TokenKind::Identifier, "an element type such as f32");
    const auto type = dtype_from_name(token.text);
    if (!type) scanner_.fail(token, concat("there is no element type '", token.text, "'"));
    return *type;
  }

  void property(Declaration& declared) {
    const Token token = scanner_.peek();
    if (const auto type = dtype_from_name(token.text)) {
      if (*type != DType::Int32 && *type != DType::Int64) {
        scanner_.fail(token, "an index type is i32 or i64");
      }
      declared.tensor.type.index_type = *type;
      scanner_.next();
    } else if (scanner_.accept("plain")) {
      declared.tensor.tracking = Tensor::Tracking::Plain;
    } else if (scanner_.accept("tracked")) {
      declared.tensor.tracking = Tensor::Tracking::Tracked;
    } else if (scanner_.accept("unbounded")) {
      declared.tensor.type.unbounded = true;
    } else if (scanner_.accept("with")) {
      declared.tensor.lead = name("the workspace that leads");
    } else if (scanner_.accept("like")) {
      declared.tensor.shares_pattern_of = name("the operand whose pattern it has");
    } else if (scanner_.accept("onto")) {
      declared.tensor.onto = name("the tensor that it is added to");
    } else {
      declared.format = rest_of_line(declared.name);
    }
  }

  // Whether what stands on the line of `start` ends here: at the line's end, ';' or '}'.
  bool ends_line(const Token& start) const {
    const Token& token = scanner_.peek();
    if (token.kind == TokenKind::End || token.is("}") || token.is(";")) return true;
    const size_t length = token.offset - start.offset;
    return scanner_.source().substr(start.offset, length).find('\n') != std::string_view::npos;
  }

  // The text of the tokens that are left on the line of `start`.
  std::string rest_of_line(const Token& start) {
    const size_t begin = scanner_.peek().offset;
    size_t end = begin;
    while (!ends_line(start)) {
      const Token token = scanner_.next();
      end = token.offset + token.text.size();
    }
    if (end == begin) scanner_.fail(scanner_.peek(), "expected a format");
    return std::string(scanner_.source().substr(begin, end - begin));
  }

  bool extent() {
    const std::string var = name("a variable");
    scanner_.expect("=");
    nest_.known_extents[var] = scanner_.expect_integer("an extent");
    nest_.variables.try_emplace(var);
    return true;
  }

  bool variable() {
    const Token token = scanner_.expect(TokenKind::Identifier, "a variable");
    Variable variable;
    if (scanner_.accept("=")) variable = provenance();
    if (const auto known = nest_.variables.find(std::string(token.text));
        known != nest_.variables.end() && known->second != Variable{}) {
      scanner_.fail(token, concat("the variable '", token.text, "' is declared twice"));
    }
    nest_.variables[std::string(token.text)] = variable;
    return true;
  }

  // k / 64, k % 64, j - i, (i, j), A(j) / 64, A(j) % 64, chunk A(i) / 64 or row A(i) / 64
  Variable provenance() {
    Variable variable;
    if (scanner_.accept("(")) {
      variable.origin = Variable::Origin::Fused;
      variable.parent = source(name("a variable"));
      scanner_.expect(",");
      variable.second = source(name("a variable"));
      scanner_.expect(")");
      return variable;
    }
    using Origin = Variable::Origin;
    const bool names_next = scanner_.peek(1).kind == TokenKind::Identifier;
    if (names_next && (scanner_.peek().is("chunk") || scanner_.peek().is("row"))) {
      variable.origin = scanner_.next().is("chunk") ? Origin::Chunk : Origin::ChunkRow;
      variable.tensor = name("an operand");
      scanner_.expect("(");
      variable.parent = source(name("a variable"));
      scanner_.expect(")");
      scanner_.expect("/");
      variable.factor = scanner_.expect_integer("a factor");
      return variable;
    }
    const std::string first = name("a variable or '('");
    const bool position = scanner_.accept("(");
    if (position) {
      variable.tensor = first;
      variable.parent = source(name("a variable"));
      scanner_.expect(")");
    } else {
      variable.parent = source(first);
    }
    if (!position && scanner_.accept("-")) {
      variable.origin = Variable::Origin::Difference;
      variable.second = source(name("a variable"));
      return variable;
    }
    if (scanner_.accept("/")) {
      variable.origin = position ? Variable::Origin::OuterPosition : Variable::Origin::Outer;
    } else {
      if (!scanner_.accept("%")) scanner_.fail(scanner_.peek(), "expected '/', '%' or '-'");
      variable.origin = position ? Variable::Origin::InnerPosition : Variable::Origin::Inner;
    }
    variable.factor = scanner_.expect_integer("a factor");
    return variable;
  }

  // A variable that no line derives from another is a source.
  std::string source(std::string var) {
    nest_.variables.try_emplace(var);
    return var;
  }

  int integer(std::string_view what) {
    const Token token = scanner_.peek();
    const int64_t value = scanner_.expect_integer(what);
    if (value < 0 || value > INT32_MAX) scanner_.fail(token, concat("expected ", what));
    return static_cast<int>(value);
  }

  // ---- statements
  // -----------------------------------------------------------------------------------------------

  Stmt stmt() {
    const bool names_next = scanner_.peek(1).kind == TokenKind::Identifier;
    if (names_next && scanner_.accept("forall")) return forall();
    if (names_next && scanner_.accept("where")) return where();
    if (scanner_.peek().is("sequence") && scanner_.peek(1).is("{")) return sequence();
    return assign();
  }

  Stmt block() {
    scanner_.expect("{");
    Stmt body = stmt();
    scanner_.accept(";");
    if (!scanner_.peek().is("}")) {
      scanner_.fail(scanner_.peek(), "expected '}'; several statements stand in sequence { ... }");
    }
    scanner_.next();
    return body;
  }

  Stmt forall() {
    const std::string var = source(name("a variable"));
    const LoopTag tag = loop_tag();
    return Forall::make(var, block(), tag);
  }

  LoopTag loop_tag() {
    LoopTag tag;
    if (scanner_.accept("parallel")) {
      tag.kind = LoopTag::Kind::Parallel;
      scanner_.expect("(");
      const Token balance = scanner_.next();
      if (balance.is("nnz")) {
        tag.balance = LoopTag::Balance::Nnz;
      } else if (!balance.is("rows")) {
        scanner_.fail(balance, "expected rows or nnz");
      }
      scanner_.expect(")");
    } else if (scanner_.accept("vector")) {
      tag.kind = LoopTag::Kind::Vector;
      scanner_.expect("(");
      tag.factor = integer("a number of lanes");
      scanner_.expect(")");
    } else if (scanner_.accept("unrolled")) {
      tag.kind = LoopTag::Kind::Unrolled;
      if (scanner_.accept("(")) {
        tag.factor = integer("a number of copies");
        scanner_.expect(")");
      }
    } else if (const auto bound = bound_kind(scanner_.peek().text)) {
      scanner_.next();
      tag.kind = *bound;
    }
    return tag;
  }

  Stmt where() {
    std::vector<std::string> workspaces;
    do {
      workspaces.push_back(name("a workspace"));
    } while (scanner_.accept(","));
    Stmt consumer = block();
    scanner_.expect("producing");
    return Where::make(std::move(workspaces), std::move(consumer), block());
  }

  Stmt sequence() {
    scanner_.next();
    scanner_.expect("{");
    std::vector<Stmt> stmts;
    while (!scanner_.accept("}")) {
      stmts.push_back(stmt());
      scanner_.accept(";");
    }
    return Sequence::make(std::move(stmts));
  }

  // How the assignment accumulates, if a token says so: += *= max= min=.
  Accumulate accumulation(const Token& token) const {
    const bool word = scanner_.peek().is("=");
    const std::string text = concat(token.text, word ? "=" : "");
#define X(name, spelled) \
  if (text == (spelled)) return Monoid::name;
    TULLE_MONOIDS(X)
#undef X
    return std::nullopt;
  }

  // Reads the assignment as a statement of index notation. All before it is blanked and += becomes
  // =, so that errors point at the right line and column.
  Stmt assign() {
    const Token start =
        scanner_.expect(TokenKind::Identifier, "forall, where, sequence or an assignment");
    std::string text(scanner_.source().substr(0, start.offset));
    std::replace_if(text.begin(), text.end(), [](char c) { return c != '\n'; }, ' ');
    text += start.text;
    size_t end = start.offset + start.text.size();
    Accumulate accumulate;
    bool is_left = true;
    while (!ends_line(start)) {
      const Token token = scanner_.next();
      text += scanner_.source().substr(end, token.offset - end);
      end = token.offset + token.text.size();
      if (const Accumulate found = accumulation(token); is_left && found) {
        accumulate = found;
        const bool has_sign = token.text.ends_with("=");  // else the next token is it
        text += std::string(token.text.size() - (has_sign ? 1 : 0), ' ') + (has_sign ? "=" : "");
        is_left = !has_sign;
        continue;
      }
      text += token.text;
      is_left = is_left && !token.is("=");
    }
    expr::Program program = expr::parse_program(text);
    if (program.statements.size() != 1) scanner_.fail(start, "expected one assignment");
    expr::Statement& statement = program.statements.front();
    return Assign::make(statement.tensor, statement.indices, accumulate, statement.value);
  }

  // ---- what the uses tell
  // ---------------------------------------------------------------------------------------

  void add_tensor(const Declaration& declared) {
    const std::string name(declared.name.text);
    Tensor tensor = declared.tensor;
    if (declared.format.starts_with("(")) {
      // The long form names its dimensions: as many as there are commas before the ')', and one
      // more.
      const std::string dimensions = declared.format.substr(1, declared.format.find(')') - 1);
      const bool scalar = dimensions.find_first_not_of(' ') == std::string::npos;
      const auto commas = std::count(dimensions.begin(), dimensions.end(), ',');
      tensor.type.format =
          Format::parse(declared.format, scalar ? 0 : static_cast<int>(commas) + 1);
    } else {
      const std::string format = declared.format.empty() ? "dense" : declared.format;
      tensor.type.format = Format::parse(format, rank_of(declared.name));
    }
    tensor_types_[name] = tensor.type;
    if (!nest_.tensors.emplace(name, std::move(tensor)).second) {
      scanner_.fail(declared.name, concat("the tensor '", name, "' is declared twice"));
    }
  }

  int rank_of(const Token& name) const {
    for (const Assign* assign : assigns(nest_.root)) {
      if (assign->tensor == name.text) return static_cast<int>(assign->indices.size());
      for (const expr::Access* access : expr::accesses(assign->value)) {
        if (access->tensor == name.text) return static_cast<int>(access->indices.size());
      }
    }
    scanner_.fail(name, concat("nothing uses '", name.text,
                               "', so that its rank is not known; write its format as ",
                               "(i,j) -> (i: dense, j: dense), or leave it out"));
  }

  Stmt typed(const Stmt& stmt) {
    if (const auto* forall = stmt.as<Forall>()) {
      return Forall::make(forall->var, typed(forall->body), forall->tag);
    }
    if (const auto* where = stmt.as<Where>()) {
      Stmt consumer = typed(where->consumer);
      return Where::make(where->workspaces, std::move(consumer), typed(where->producer));
    }
    if (const auto* sequence = stmt.as<Sequence>()) {
      std::vector<Stmt> stmts;
      stmts.reserve(sequence->stmts.size());
      for (const Stmt& part : sequence->stmts) stmts.push_back(typed(part));
      return Sequence::make(std::move(stmts));
    }
    const auto* assign = stmt.as<Assign>();
    for (const std::string& index : assign->indices) source(index);
    for (const expr::Access* access : expr::accesses(assign->value)) use(*access);
    const expr::Statement statement =
        expr::assign_types({assign->tensor, assign->indices, assign->value}, tensor_types_, {});
    return Assign::make(assign->tensor, assign->indices, assign->accumulate,
                        numbered(statement.value));
  }

  void use(const expr::Access& access) {
    if (!nest_.tensors.contains(access.tensor)) {
      user_error("The nest uses the tensor '", access.tensor,
                 "', which no line declares; add operand ", access.tensor, ": f32, say.");
    }
    for (const std::string& index : access.indices) source(index);
  }

  // The same expression with the next ids on its accesses.
  expr::Expr numbered(const expr::Expr& value) {
    if (const auto* access = value.as<expr::Access>()) {
      const auto [known, is_new] = ids_.try_emplace({access->tensor, access->indices}, next_id_);
      if (is_new) ++next_id_;
      return expr::Access::make(known->second, access->tensor, access->indices, access->type);
    }
    if (const auto* reduce = value.as<expr::Reduce>()) {
      user_error("A nest has loops in place of sums, but an assignment holds sum(",
                 reduce->indices.front(), ", ...).");
    }
    return expr::with_children(value, [&](const expr::Expr& child) { return numbered(child); });
  }

  Scanner scanner_;
  Nest nest_;
  std::map<std::string, expr::TensorType> tensor_types_;
  std::vector<Declaration> declarations_;
  std::map<std::pair<std::string, std::vector<std::string>>, int> ids_;  // of accesses
  int next_id_ = 0;
};

}  // namespace

Nest parse_nest(std::string_view text) {
  Nest nest = NestParser(text).parse();
  try {
    verify_nest(nest);
  } catch (const InternalError& error) {
    throw UserError(error.what());
  }
  return nest;
}

}  // namespace tulle::nest
