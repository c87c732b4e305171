// The parser of nests: the text read, then the types that declarations and uses tell together.
#include "nest/parse.h"

#include <algorithm>

#include "expr/assign_types.h"
#include "expr/widen_halves.h"
#include "nest/parse_declarations.h"
#include "nest/parse_stmt.h"
#include "nest/verify.h"
#include "support/check.h"

namespace tulle::nest {

namespace {

class NestParser {
 public:
  explicit NestParser(std::string_view text) : scanner_(text) {}

  Nest parse() {
    DeclarationParser declarations(scanner_, nest_);
    scanner_.expect("nest");
    scanner_.expect("{");
    while (declarations.declaration()) scanner_.accept(";");
    nest_.root = StmtParser(scanner_, nest_).stmt();
    scanner_.expect("}");
    if (!scanner_.at_end()) scanner_.fail(scanner_.peek(), "expected the end of the nest");
    for (const Declaration& declared : declarations.tensors()) add_tensor(declared);
    nest_.root = typed(nest_.root);
    return std::move(nest_);
  }

 private:
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
    for (const std::string& index : assign->indices) nest_.variables.try_emplace(index);
    for (const expr::Access* access : expr::accesses(assign->value)) use(*access);
    const expr::Statement statement =
        expr::assign_types({assign->tensor, assign->indices, assign->value}, tensor_types_, {});
    return Assign::make(assign->tensor, assign->indices, assign->accumulate,
                        numbered(expr::widen_halves(statement.value)));
  }

  void use(const expr::Access& access) {
    if (!nest_.tensors.contains(access.tensor)) {
      user_error("The nest uses the tensor '", access.tensor,
                 "', which no line declares; add operand ", access.tensor, ": f32, say.");
    }
    for (const std::string& index : access.indices) nest_.variables.try_emplace(index);
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

  NestScanner scanner_;
  Nest nest_;
  std::map<std::string, expr::TensorType> tensor_types_;
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
