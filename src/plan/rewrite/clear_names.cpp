// Renames tensors whose names collide with generated names.
#include "plan/rewrite/clear_names.h"

#include <algorithm>
#include <string_view>

#include "expr/print.h"
#include "support/check.h"
#include "support/reserved_words.h"

namespace tulle::plan {

namespace {

// A generated name is the name of a tensor, one of these suffixes and perhaps a number.
constexpr std::string_view kSuffixes[] = {
    "_pos",   "_crd",   "_bits", "_count", "_chunks", "_entries",    "_total",  "_sorted",
    "_order", "_acc",   "_sum",  "_sums",  "_as",     "_part",       "_size",   "_add",
    "_term",  "_whole", "_wide", "_width", "_widest", "_entry_rows", "_stored", "_staged"};

// Anything may follow these.
constexpr std::string_view kInfixes[] = {"_pieces"};

std::string without_number(std::string name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
  return name;
}

expr::Expr renamed(const expr::Expr& expr, const TensorNames& names) {
  if (const auto* access = expr.as<expr::Access>()) {
    const auto found = names.find(access->tensor);
    if (found == names.end()) return expr;
    expr::Access changed = *access;
    if (changed.place.called.empty()) changed.place.called = expr::called(*access);
    changed.tensor = found->second;
    return std::make_shared<const expr::Access>(std::move(changed));
  }
  return expr::with_children(expr, [&](const expr::Expr& child) { return renamed(child, names); });
}

// Whether the name is an owner's name with one or more of the suffixes.
bool belongs_to(const std::string& name, const std::set<std::string>& owners) {
  const std::string stem = without_number(name);
  return std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](std::string_view suffix) {
    if (!stem.ends_with(suffix)) return false;
    const std::string owner = stem.substr(0, stem.size() - suffix.size());
    return owners.contains(owner) || belongs_to(owner, owners);
  });
}

}  // namespace

bool is_name_of_stages(const std::string& name, const std::set<std::string>& tensors,
                       const std::set<std::string>& indices) {
  if (name == "threads" || is_reserved_word(name)) return true;
  if (name.starts_with("n_") &&
      (indices.contains(name.substr(2)) || is_index_of_stages(name.substr(2), tensors, indices)))
    return true;
  // Names of kernels and of tensors that schedules make contain the tensor's name between
  // underscores.
  const auto stands_within = [&](const std::string& tensor) {
    return name.find(concat("_", tensor, "_")) != std::string::npos;
  };
  if (std::any_of(tensors.begin(), tensors.end(), stands_within)) return true;
  for (const std::string_view infix : kInfixes) {
    const size_t at = name.find(infix);
    if (at == std::string::npos) continue;
    const std::string owner = name.substr(0, at);
    if (tensors.contains(owner) || belongs_to(owner, tensors)) return true;
  }
  return belongs_to(name, tensors) || belongs_to(name, indices);  // partial sums over an index
}

bool is_index_of_stages(const std::string& name, const std::set<std::string>& tensors,
                        const std::set<std::string>& indices) {
  if (is_reserved_word(name)) return true;
  const auto belongs = [&](const std::string& owner) { return name.starts_with(owner + "_"); };
  const auto belongs_to_loops = [&](const std::string& index) {
    return belongs(index) || belongs(index + "o") || belongs(index + "r");
  };
  if (std::any_of(indices.begin(), indices.end(), belongs_to_loops) ||
      std::any_of(tensors.begin(), tensors.end(), belongs))
    return true;
  return (name.ends_with("o") || name.ends_with("r")) &&
         indices.contains(name.substr(0, name.size() - 1));
}

TensorNames clear_names(const expr::ParsedProgram& program) {
  std::set<std::string> written, indices;
  for (const expr::Statement& statement : program.statements) {
    written.insert(statement.tensor);
    indices.insert(statement.indices.begin(), statement.indices.end());
    for (const expr::Access* access : expr::accesses(statement.value)) {
      written.insert(access->tensor);
      indices.insert(access->indices.begin(), access->indices.end());
    }
  }
  // A new name may itself look generated, so this repeats until all names are clear.
  TensorNames names;
  std::set<std::string> tensors = written;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string& name : written) {
      const auto known = names.find(name);
      const std::string current = known == names.end() ? name : known->second;
      if (!is_name_of_stages(current, tensors, indices)) continue;
      tensors.erase(current);
      std::string plain = name;
      std::erase(plain, '_');
      std::string clear = "user_" + plain;
      for (int number = 2; written.contains(clear) || tensors.contains(clear) ||
                           is_name_of_stages(clear, tensors, indices);
           ++number)
        clear = concat("user", number, "_", plain);
      tensors.insert(clear);
      names[name] = clear;
      changed = true;
    }
  }
  return names;
}

expr::ParsedProgram with_names(const expr::ParsedProgram& program, const TensorNames& names) {
  expr::ParsedProgram changed = program;
  for (expr::Statement& statement : changed.statements) {
    const auto found = names.find(statement.tensor);
    if (found != names.end()) statement.tensor = found->second;
    statement.value = renamed(statement.value, names);
  }
  return changed;
}

}  // namespace tulle::plan
