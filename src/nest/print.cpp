// Prints nests.
#include <algorithm>

#include "nest/nest.h"
#include "support/check.h"
#include "support/joined.h"

namespace tulle::nest {

namespace {

std::string text_of(const Assign& assign) {
  const std::string indices = assign.indices.empty() ? "" : "[" + joined(assign.indices, ",") + "]";
  const std::string_view how = assign.accumulate ? text_of(*assign.accumulate) : "=";
  return concat(assign.tensor, indices, " ", how, " ", expr::to_string(assign.value));
}

std::string_view text_of(LoopTag::Balance balance) {
  constexpr std::string_view names[] = {"rows", "nnz", "merge"};
  return names[static_cast<int>(balance)];
}

std::string text_of(const LoopTag& tag) {
  switch (tag.kind) {
    case LoopTag::Kind::Serial:
      return "";
    case LoopTag::Kind::Parallel:
      return concat(" parallel(", text_of(tag.balance), ")");
    case LoopTag::Kind::Vector:
      return concat(" vector(", tag.factor, ")");
    case LoopTag::Kind::Unrolled:
      return tag.factor == 0 ? " unrolled" : concat(" unrolled(", tag.factor, ")");
    case LoopTag::Kind::Member:
    case LoopTag::Kind::Block:
    case LoopTag::Kind::Warp:
    case LoopTag::Kind::Lane:
    case LoopTag::Kind::Thread:
      return concat(" ", bound_name(tag.kind), tag.by_atomics ? "(atomics)" : "");
  }
  internal_error("unknown kind of loop");
}

std::string_view text_of(Tensor::Role role) {
  switch (role) {
    case Tensor::Role::Operand:
      return "operand";
    case Tensor::Role::Result:
      return "result";
    case Tensor::Role::Workspace:
      return "workspace";
  }
  internal_error("unknown role of a tensor");
}

class Printer {
 public:
  explicit Printer(const Nest& nest) : nest_(nest) {
    for (const Assign* assign : assigns(nest.root)) {
      use(assign->tensor, assign->indices);
      for (const expr::Access* access : expr::accesses(assign->value)) {
        use(access->tensor, access->indices);
      }
    }
    find_loops(nest.root);
  }

  std::string print() {
    line("nest {");
    ++depth_;
    for (const auto& [name, tensor] : nest_.tensors) line(declaration(name, tensor));
    for (const auto& [var, extent] : nest_.known_extents)
      line(concat("extent ", var, " = ", extent));
    for (const auto& [name, variable] : nest_.variables) print_variable(name, variable);
    for (const PrefetchedOperand& prefetch : nest_.prefetches) {
      line(concat("prefetch ", prefetch.tensor, " ", prefetch.distance));
    }
    for (const std::string& tensor : nest_.nontemporal) line("nontemporal " + tensor);
    print_stmt(nest_.root);
    --depth_;
    line("}");
    return std::move(text_);
  }

 private:
  void use(const std::string& tensor, const std::vector<std::string>& indices) {
    used_tensors_.push_back(tensor);
    used_indices_.insert(used_indices_.end(), indices.begin(), indices.end());
  }

  void find_loops(const Stmt& stmt) {
    if (const auto* forall = stmt.as<Forall>()) {
      used_indices_.push_back(forall->var);
      find_loops(forall->body);
    } else if (const auto* where = stmt.as<Where>()) {
      find_loops(where->consumer);
      find_loops(where->producer);
    } else if (const auto* sequence = stmt.as<Sequence>()) {
      for (const Stmt& part : sequence->stmts) find_loops(part);
    }
  }

  static bool among(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  std::string declaration(const std::string& name, const Tensor& tensor) const {
    const expr::TensorType& type = tensor.type;
    // Only uses determine the rank of a format given by its name.
    const std::string format =
        among(used_tensors_, name) ? type.format.name() : type.format.to_string();
    std::string text = concat(text_of(tensor.role), " ", name, ": ", name_of(type.type));
    if (type.index_type != DType::Int64 || !type.format.is_dense()) {
      text += concat(", ", name_of(type.index_type));
    }
    if (type.unbounded && tensor.role == Tensor::Role::Operand) text += ", unbounded";
    if (tensor.tracking == Tensor::Tracking::Tracked) text += ", tracked";
    if (tensor.tracking == Tensor::Tracking::Scanned) text += ", scanned";
    if (!tensor.lead.empty()) text += ", with " + tensor.lead;
    if (tensor.staging == Tensor::Staging::Registers) text += ", registers";
    if (tensor.staging == Tensor::Staging::Shared) text += ", shared";
    if (tensor.depth > 1) text += concat(", depth ", tensor.depth);
    if (!tensor.shares_pattern_of.empty()) text += ", like " + tensor.shares_pattern_of;
    if (!tensor.onto.empty()) text += ", onto " + tensor.onto;
    const std::string_view by = text_of(tensor.onto_by);  // max=
    if (tensor.onto_by != Monoid::Sum) text += concat(", by ", by.substr(0, by.size() - 1));
    return concat(text, ", ", format);
  }

  // Source variables that occur in a loop, an index or an extent need no line.
  void print_variable(const std::string& name, const Variable& variable) {
    switch (variable.origin) {
      case Variable::Origin::Source:
        if (!among(used_indices_, name) && !nest_.known_extents.contains(name)) line("var " + name);
        return;
      case Variable::Origin::Outer:
        return line(concat("var ", name, " = ", variable.parent, " / ", variable.factor));
      case Variable::Origin::Inner:
        return line(concat("var ", name, " = ", variable.parent, " % ", variable.factor));
      case Variable::Origin::OuterPosition:
      case Variable::Origin::InnerPosition:
        return line(concat("var ", name, " = ", variable.tensor, "(", variable.parent, ")",
                           variable.origin == Variable::Origin::OuterPosition ? " / " : " % ",
                           variable.factor));
      case Variable::Origin::Stored:
        return line(concat("var ", name, " = stored ", variable.tensor, "(", variable.parent, ")"));
      case Variable::Origin::Chunk:
      case Variable::Origin::ChunkRow:
        return line(concat("var ", name, " = ",
                           variable.origin == Variable::Origin::Chunk ? "chunk " : "row ",
                           variable.tensor, "(", variable.parent, ") / ", variable.factor,
                           variable.parts > 0 ? concat(" in ", variable.parts) : "",
                           variable.dealt > 0 ? concat(" dealt ", variable.dealt) : ""));
      case Variable::Origin::EntryChunk:
      case Variable::Origin::Entry:
        return line(concat("var ", name, " = ",
                           variable.origin == Variable::Origin::EntryChunk ? "chunk " : "entry ",
                           variable.tensor, "(", variable.parent, ", ", variable.second, ") / ",
                           variable.factor));
      case Variable::Origin::Fused:
        return line(concat("var ", name, " = (", variable.parent, ", ", variable.second, ")"));
      case Variable::Origin::Difference:
        return line(concat("var ", name, " = ", variable.parent, " - ", variable.second));
    }
  }

  void print_stmt(const Stmt& stmt) {
    if (const auto* forall = stmt.as<Forall>()) {
      line(concat("forall ", forall->var, text_of(forall->tag), " {"));
      block({forall->body});
    } else if (const auto* where = stmt.as<Where>()) {
      line(concat("where ", joined(where->workspaces), " {"));
      block({where->consumer}, "} producing {");
      block({where->producer});
    } else if (const auto* sequence = stmt.as<Sequence>()) {
      line("sequence {");
      block(sequence->stmts);
    } else if (const auto* assign = stmt.as<Assign>()) {
      line(text_of(*assign));
    }
  }

  void block(const std::vector<Stmt>& stmts, const std::string& end = "}") {
    ++depth_;
    for (const Stmt& stmt : stmts) print_stmt(stmt);
    --depth_;
    line(end);
  }

  void line(const std::string& text) {
    text_ += std::string(static_cast<size_t>(2 * depth_), ' ') + text + "\n";
  }

  const Nest& nest_;
  std::vector<std::string> used_tensors_;
  std::vector<std::string> used_indices_;
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string to_string(const Nest& nest) { return Printer(nest).print(); }

}  // namespace tulle::nest
