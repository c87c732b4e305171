// The parser of nests.
#include "nest/parse.h"

#include <algorithm>

#include "expr/assign_types.h"
#include "expr/widen_halves.h"
#include "nest/nest_parser.h"
#include "nest/number_accesses.h"
#include "nest/parse_stmt.h"
#include "nest/verify.h"
#include "support/check.h"

namespace tulle::nest {

namespace {

void refuse_sums(const expr::Expr& value) {
  if (const auto* reduce = value.as<expr::Reduce>()) {
    user_error("A nest has loops instead of sums, but an assignment contains sum(",
               reduce->indices.front(), ", ...).");
  }
  for (const expr::Expr& child : expr::children(value)) refuse_sums(child);
}

}  // namespace

Nest NestParser::parse() {
  DeclarationParser declarations(scanner_, nest_);
  scanner_.expect("nest");
  scanner_.expect("{");
  while (declarations.declaration()) scanner_.accept(";");
  nest_.root = StmtParser(scanner_, nest_).stmt();
  scanner_.expect("}");
  for (const TensorDeclaration& declared : declarations.tensors()) add_tensor(declared);
  find_strong();
  nest_.root = typed(nest_.root);
  nest_ = with_numbered_accesses(nest_);
  try {
    verify_nest(nest_);
  } catch (const InternalError& error) {
    throw UserError(error.what());
  }
  return std::move(nest_);
}

void NestParser::add_tensor(const TensorDeclaration& declared) {
  const std::string name(declared.name.text);
  Tensor tensor = declared.tensor;
  if (declared.format.starts_with("(")) {
    tensor.type.format = parse_long_format(declared.format);
  } else {
    const std::string format = declared.format.empty() ? "dense" : declared.format;
    tensor.type.format = Format::parse(format, rank_of(declared.name));
  }
  tensor_types_[name] = tensor.type;
  if (!nest_.tensors.emplace(name, std::move(tensor)).second) {
    scanner_.fail(declared.name, concat("the tensor '", name, "' is declared twice"));
  }
}

int NestParser::rank_of(const Token& name) const {
  for (const Assign* assign : assigns(nest_.root)) {
    if (assign->tensor == name.text) return static_cast<int>(assign->indices.size());
    for (const expr::Access* access : expr::accesses(assign->value)) {
      if (access->tensor == name.text) return static_cast<int>(access->indices.size());
    }
  }
  scanner_.fail(name, concat("no statement uses '", name.text,
                             "', so its rank is unknown; write its format as ",
                             "(i,j) -> (i: dense, j: dense), or remove the line"));
}

// A workspace without indices that holds a value of a tensor has the promotion strength of that
// tensor, so that inserting the workspace changes no type.
void NestParser::find_strong() {
  const auto is_strong = [&](const expr::Access* access) {
    return !access->indices.empty() || strong_.contains(access->tensor);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Assign* assign : assigns(nest_.root)) {
      const auto found = nest_.tensors.find(assign->tensor);
      if (found == nest_.tensors.end() || found->second.role != Tensor::Role::Workspace) continue;
      const auto read = expr::accesses(assign->value);
      if (!assign->indices.empty() || std::none_of(read.begin(), read.end(), is_strong)) continue;
      changed |= strong_.insert(assign->tensor).second;
    }
  }
}

Stmt NestParser::typed(const Stmt& stmt) {
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
  refuse_sums(assign->value);
  for (const std::string& index : assign->indices) nest_.variables.try_emplace(index);
  for (const expr::Access* access : expr::accesses(assign->value)) use(*access);
  const expr::Statement statement = expr::assign_types(
      {assign->tensor, assign->indices, assign->value}, tensor_types_, {}, strong_);
  return Assign::make(assign->tensor, assign->indices, assign->accumulate,
                      expr::widen_halves(statement.value));
}

void NestParser::use(const expr::Access& access) {
  if (!nest_.tensors.contains(access.tensor)) {
    user_error("The nest uses the tensor '", access.tensor,
               "', which no line declares; add a line such as operand ", access.tensor, ": f32.");
  }
  for (const std::string& index : access.indices) nest_.variables.try_emplace(index);
}

Format parse_long_format(const std::string& text) {
  // The rank is the number of dimension names: the commas before the ')', plus 1.
  const std::string dimensions = text.substr(1, text.find(')') - 1);
  const bool scalar = dimensions.find_first_not_of(' ') == std::string::npos;
  const auto commas = std::count(dimensions.begin(), dimensions.end(), ',');
  return Format::parse(text, scalar ? 0 : static_cast<int>(commas) + 1);
}

Nest parse_nest(std::string_view text) {
  NestScanner scanner(text);
  Nest nest = NestParser(scanner).parse();
  if (!scanner.at_end()) scanner.fail(scanner.peek(), "expected the end of the nest");
  return nest;
}

}  // namespace tulle::nest
