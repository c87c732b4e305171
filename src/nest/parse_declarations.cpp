// The parser of declarations: tensors, extents and variables.
#include "nest/parse_declarations.h"

#include "support/check.h"

namespace tulle::nest {

bool DeclarationParser::declaration() {
  if (scanner_.peek(1).kind != TokenKind::Identifier) return false;
  if (scanner_.accept("operand")) return tensor(Tensor::Role::Operand);
  if (scanner_.accept("result")) return tensor(Tensor::Role::Result);
  if (scanner_.accept("workspace")) return tensor(Tensor::Role::Workspace);
  if (scanner_.accept("extent")) return extent();
  if (scanner_.accept("var")) return variable();
  if (scanner_.accept("prefetch")) {
    const std::string tensor = scanner_.name("a tensor");
    nest_.prefetches.push_back({tensor, scanner_.integer("how many entries ahead")});
    return true;
  }
  if (scanner_.accept("nontemporal")) {
    nest_.nontemporal.push_back(scanner_.name("a tensor"));
    return true;
  }
  return false;
}

bool DeclarationParser::tensor(Tensor::Role role) {
  TensorDeclaration declared{.name = scanner_.expect(TokenKind::Identifier, "the tensor's name")};
  declared.tensor.role = role;
  scanner_.expect(":");
  declared.tensor.type.type = dtype();
  while (!scanner_.ends_line(declared.name)) {
    scanner_.accept(",");
    property(declared);
  }
  tensors_.push_back(std::move(declared));
  return true;
}

DType DeclarationParser::dtype() {
  const Token token = scanner_.expect(TokenKind::Identifier, "an element type such as f32");
  const auto type = dtype_from_name(token.text);
  if (!type) scanner_.fail(token, concat("there is no element type '", token.text, "'"));
  return *type;
}

void DeclarationParser::property(TensorDeclaration& declared) {
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
  } else if (scanner_.accept("scanned")) {
    declared.tensor.tracking = Tensor::Tracking::Scanned;
  } else if (scanner_.accept("registers")) {
    declared.tensor.staging = Tensor::Staging::Registers;
  } else if (scanner_.accept("shared")) {
    declared.tensor.staging = Tensor::Staging::Shared;
  } else if (scanner_.accept("depth")) {
    declared.tensor.depth = scanner_.integer("a number of copies");
  } else if (scanner_.accept("unbounded")) {
    declared.tensor.type.unbounded = true;
  } else if (scanner_.accept("with")) {
    declared.tensor.lead = scanner_.name("the workspace that leads");
  } else if (scanner_.accept("like")) {
    declared.tensor.shares_pattern_of = scanner_.name("the operand whose pattern it has");
  } else if (scanner_.accept("onto")) {
    declared.tensor.onto = scanner_.name("the tensor that it is added to");
  } else if (scanner_.accept("by")) {
    const Token how = scanner_.next();
    const auto found = monoid_called(concat(how.text, "="));
    if (!stands_alone(found) || found == Monoid::Sum || declared.tensor.onto.empty())
      scanner_.fail(how, "expected *, max or min, after 'onto'");
    declared.tensor.onto_by = *found;
  } else {
    declared.format = scanner_.rest_of_line(declared.name);
  }
}

bool DeclarationParser::extent() {
  const std::string var = scanner_.name("a variable");
  scanner_.expect("=");
  nest_.known_extents[var] = scanner_.expect_integer("an extent");
  nest_.variables.try_emplace(var);
  return true;
}

bool DeclarationParser::variable() {
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

// k / 64, k % 64, j - i, (i, j), A(j) / 64, A(j) % 64, stored A(i), chunk A(i) / 64 or row A(i) /
// 64, both perhaps with "in 256", chunk A(i, j) / 64 or entry A(i, j) / 64
Variable DeclarationParser::provenance() {
  using Origin = Variable::Origin;
  if (scanner_.accept("(")) return fused();
  const bool names_next = scanner_.peek(1).kind == TokenKind::Identifier;
  if (names_next && scanner_.peek().is("stored")) return stored();
  for (const std::string_view word : {"chunk", "row", "entry"}) {
    if (names_next && scanner_.peek().is(word)) return chunk();
  }
  Variable variable;
  const std::string first = scanner_.name("a variable or '('");
  const bool position = scanner_.accept("(");
  if (position) {
    variable.tensor = first;
    variable.parent = source();
    scanner_.expect(")");
  } else {
    variable.parent = first;
    nest_.variables.try_emplace(first);
  }
  if (!position && scanner_.accept("-")) {
    variable.origin = Origin::Difference;
    variable.second = source();
    return variable;
  }
  if (scanner_.accept("/")) {
    variable.origin = position ? Origin::OuterPosition : Origin::Outer;
  } else {
    if (!scanner_.accept("%")) scanner_.fail(scanner_.peek(), "expected '/', '%' or '-'");
    variable.origin = position ? Origin::InnerPosition : Origin::Inner;
  }
  variable.factor = scanner_.expect_integer("a factor");
  return variable;
}

// i, j) after the parenthesis.
Variable DeclarationParser::fused() {
  Variable variable;
  variable.origin = Variable::Origin::Fused;
  variable.parent = source();
  scanner_.expect(",");
  variable.second = source();
  scanner_.expect(")");
  return variable;
}

// stored A(i)
Variable DeclarationParser::stored() {
  Variable variable;
  variable.origin = Variable::Origin::Stored;
  scanner_.next();
  variable.tensor = scanner_.name("an operand");
  scanner_.expect("(");
  variable.parent = source();
  scanner_.expect(")");
  return variable;
}

// chunk A(i) / 64, row A(i) / 64 in 1024, row A(i) / 64 in 1024 dealt 32
Variable DeclarationParser::chunk() {
  using Origin = Variable::Origin;
  Variable variable;
  const std::string_view word = scanner_.next().text;
  variable.tensor = scanner_.name("an operand");
  scanner_.expect("(");
  variable.parent = source();
  const bool entries = word != "row" && scanner_.accept(",");
  if (entries) variable.second = source();
  scanner_.expect(")");
  scanner_.expect("/");
  variable.factor = scanner_.expect_integer("a factor");
  if (!entries && scanner_.accept("in"))
    variable.parts = scanner_.expect_integer("a number of chunks");
  if (variable.parts > 0 && scanner_.accept("dealt"))
    variable.dealt = scanner_.expect_integer("a number of chunks");
  if (word == "entry" && !entries) scanner_.fail(scanner_.peek(), "an entry needs two variables");
  if (entries)
    variable.origin = word == "chunk" ? Origin::EntryChunk : Origin::Entry;
  else
    variable.origin = word == "chunk" ? Origin::Chunk : Origin::ChunkRow;
  return variable;
}

// Variables without a provenance line are source variables.
std::string DeclarationParser::source() {
  std::string var = scanner_.name("a variable");
  nest_.variables.try_emplace(var);
  return var;
}

}  // namespace tulle::nest
