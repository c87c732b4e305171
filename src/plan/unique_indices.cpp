// Renaming indices apart.
#include "plan/unique_indices.h"

#include <string_view>

#include "expr/print.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::plan {

namespace {

std::vector<std::string> renamed(std::vector<std::string> indices, const Renames& renames) {
  for (std::string& index : indices) {
    const auto found = renames.find(index);
    if (found != renames.end()) index = found->second;
  }
  return indices;
}

bool same_use(const expr::ExtentUse& a, const expr::ExtentUse& b) {
  return a.tensor == b.tensor && a.dimension == b.dimension;
}

// The names that stages give to what belongs to a tensor are its name, one of these and perhaps a
// number.
constexpr std::string_view kSuffixes[] = {
    "_pos", "_crd", "_count", "_chunks", "_entries", "_total", "_sorted", "_order", "_acc",
    "_sum", "_as",  "_part",  "_size",   "_add",     "_term",  "_whole",  "_wide"};

[[noreturn]] void refuse_name(const expr::ResolvedProgram& program, const std::string& name,
                              const std::string& owner) {
  const std::string message = concat(
      "the name '", name, "' is taken for something that belongs to ", owner, "; choose another");
  for (const expr::Statement& statement : program.statements) {
    if (statement.tensor == name) expr::fail_in(statement, nullptr, message);
    for (const expr::Access* access : expr::accesses(statement.value)) {
      if (access->tensor == name) expr::fail_in(statement, access, message);
    }
  }
  internal_error("no statement has ", name);
}

// What stands for a tensor's or an index's own things cannot be the name of another tensor.
void check_names(const expr::ResolvedProgram& program) {
  auto refuse = [&](const std::string& name, const std::string& owner) {
    refuse_name(program, name, concat("'", owner, "'"));
  };
  for (const auto& [name, type] : program.tensors) {
    if (name == "threads") refuse_name(program, name, "the program");
    if (name.starts_with("n_")) {
      for (const auto& extents : program.extents) {
        if (extents.contains(name.substr(2))) refuse(name, name.substr(2));
      }
    }
    std::string stem = name;
    while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.pop_back();
    for (const std::string_view suffix : kSuffixes) {
      if (!stem.ends_with(suffix)) continue;
      const std::string owner = stem.substr(0, stem.size() - suffix.size());
      if (program.tensors.contains(owner)) refuse(name, owner);
    }
  }
}

}  // namespace

expr::Expr renamed_indices(const expr::Expr& expr, const Renames& renames) {
  if (const auto* access = expr.as<expr::Access>()) {
    expr::Access changed = *access;
    changed.indices = renamed(access->indices, renames);
    return std::make_shared<const expr::Access>(std::move(changed));
  }
  if (const auto* value = expr.as<expr::IndexValue>()) {
    return expr::IndexValue::make(renamed({value->index}, renames)[0], value->is_extent);
  }
  if (const auto* softmax = expr.as<expr::Softmax>()) {
    expr::Softmax changed = *softmax;
    changed.index = renamed({softmax->index}, renames)[0];
    changed.body = renamed_indices(softmax->body, renames);
    return std::make_shared<const expr::Softmax>(std::move(changed));
  }
  if (const auto* sum = expr.as<expr::Reduce>()) {
    expr::Reduce changed = *sum;
    changed.indices = renamed(sum->indices, renames);
    changed.body = renamed_indices(sum->body, renames);
    return std::make_shared<const expr::Reduce>(std::move(changed));
  }
  return expr::with_children(
      expr, [&](const expr::Expr& child) { return renamed_indices(child, renames); });
}

UniqueProgram with_unique_indices(const expr::ResolvedProgram& program) {
  check_names(program);
  UniqueProgram unique{program, {}, {}};
  for (size_t s = 0; s < program.statements.size(); ++s) {
    Renames renames;
    auto& extents = unique.program.extents[s];
    std::map<std::string, std::vector<expr::ExtentUse>> kept;
    for (const auto& [index, uses] : extents) {
      const auto taken = unique.extents.find(index);
      const bool differs = !mutant("indices-not-renamed") && taken != unique.extents.end() &&
                           !same_use(taken->second.front(), uses.front());
      const std::string name = differs ? concat(index, "_", s) : index;
      if (differs) renames[index] = name;
      kept[name] = uses;
      auto& all = unique.extents[name];
      all.insert(all.end(), uses.begin(), uses.end());
    }
    extents = kept;
    expr::Statement& statement = unique.program.statements[s];
    statement.indices = renamed(statement.indices, renames);
    statement.value = renamed_indices(statement.value, renames);
    unique.renamed.push_back(std::move(renames));
  }
  return unique;
}

}  // namespace tulle::plan
