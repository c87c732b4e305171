// The parser of statements.
#include "nest/parse_stmt.h"

#include "expr/program.h"
#include "support/check.h"

namespace tulle::nest {

Stmt StmtParser::stmt() {
  const bool names_next = scanner_.peek(1).kind == TokenKind::Identifier;
  if (names_next && scanner_.accept("forall")) return forall();
  if (names_next && scanner_.accept("where")) return where();
  if (scanner_.peek().is("sequence") && scanner_.peek(1).is("{")) return sequence();
  return assign();
}

Stmt StmtParser::block() {
  scanner_.expect("{");
  Stmt body = stmt();
  scanner_.accept(";");
  if (!scanner_.peek().is("}")) {
    scanner_.fail(scanner_.peek(), "expected '}'; write several statements as sequence { ... }");
  }
  scanner_.next();
  return body;
}

Stmt StmtParser::forall() {
  const std::string var = scanner_.name("a variable");
  nest_.variables.try_emplace(var);
  const LoopTag tag = loop_tag();
  return Forall::make(var, block(), tag);
}

LoopTag StmtParser::loop_tag() {
  LoopTag tag;
  if (scanner_.accept("parallel")) {
    tag.kind = LoopTag::Kind::Parallel;
    scanner_.expect("(");
    const Token balance = scanner_.next();
    if (balance.is("nnz")) {
      tag.balance = LoopTag::Balance::Nnz;
    } else if (balance.is("merge")) {
      tag.balance = LoopTag::Balance::Merge;
    } else if (!balance.is("rows")) {
      scanner_.fail(balance, "expected rows, nnz or merge");
    }
    scanner_.expect(")");
  } else if (scanner_.accept("vector")) {
    tag.kind = LoopTag::Kind::Vector;
    scanner_.expect("(");
    tag.factor = scanner_.integer("a number of lanes");
    scanner_.expect(")");
  } else if (scanner_.accept("unrolled")) {
    tag.kind = LoopTag::Kind::Unrolled;
    if (scanner_.accept("(")) {
      tag.factor = scanner_.integer("a number of copies");
      scanner_.expect(")");
    }
  } else if (const auto bound = bound_kind(scanner_.peek().text)) {
    scanner_.next();
    tag.kind = *bound;
    if (scanner_.accept("(")) {
      scanner_.expect("atomics");
      scanner_.expect(")");
      tag.by_atomics = true;
    }
  }
  return tag;
}

Stmt StmtParser::where() {
  std::vector<std::string> workspaces;
  do {
    workspaces.push_back(scanner_.name("a workspace"));
  } while (scanner_.accept(","));
  Stmt consumer = block();
  scanner_.expect("producing");
  return Where::make(std::move(workspaces), std::move(consumer), block());
}

Stmt StmtParser::sequence() {
  scanner_.next();
  scanner_.expect("{");
  std::vector<Stmt> stmts;
  while (!scanner_.accept("}")) {
    stmts.push_back(stmt());
    scanner_.accept(";");
  }
  return Sequence::make(std::move(stmts));
}

// The accumulation that the token denotes, if any: += *= max= min=.
Accumulate StmtParser::accumulation(const Token& token) const {
  const bool word = scanner_.peek().is("=");
  return monoid_called(concat(token.text, word ? "=" : ""));
}

// Parses the assignment as a statement of index notation. The text before it is blanked and +=
// becomes =, so that errors point at the right line and column.
Stmt StmtParser::assign() {
  const Token start =
      scanner_.expect(TokenKind::Identifier, "forall, where, sequence or an assignment");
  std::string text = blanked_before(scanner_.source().substr(0, start.offset), start.offset);
  text += start.text;
  size_t end = start.offset + start.text.size();
  Accumulate accumulate;
  bool is_left = true;
  while (!scanner_.ends_line(start)) {
    const Token token = scanner_.next();
    text += scanner_.source().substr(end, token.offset - end);
    end = token.offset + token.text.size();
    if (const Accumulate found = accumulation(token); is_left && found) {
      accumulate = found;
      const bool has_sign = token.text.ends_with("=");  // else the sign is the next token
      text += std::string(token.text.size() - (has_sign ? 1 : 0), ' ') + (has_sign ? "=" : "");
      is_left = !has_sign;
      continue;
    }
    text += token.text;
    is_left = is_left && !token.is("=");
  }
  expr::ParsedProgram program = expr::parse_program(text, expr::Writer::Compiler);
  if (program.statements.size() != 1) scanner_.fail(start, "expected one assignment");
  expr::Statement& statement = program.statements.front();
  return Assign::make(statement.tensor, statement.indices, accumulate, statement.value);
}

}  // namespace tulle::nest
