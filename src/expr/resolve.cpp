// Resolves a program statement by statement: sums, types, extents and formats.
#include <algorithm>

#include "expr/absence.h"
#include "expr/assign_types.h"
#include "expr/check_notation.h"
#include "expr/implicit_sums.h"
#include "expr/print.h"
#include "expr/program.h"
#include "expr/result_format.h"
#include "expr/walk.h"
#include "expr/widen_halves.h"
#include "support/check.h"
#include "support/similar_name.h"

namespace tulle::expr {

namespace {

class Resolver {
 public:
  Resolver(const std::map<std::string, TensorType>& operands, const ResolveOptions& options)
      : operands_(operands), options_(options) {}

  ResolvedProgram run(const ParsedProgram& program) {
    for (const Statement& statement : program.statements) resolve(statement);
    check_out_formats();
    for (const Statement& statement : result_.statements) {
      if (!read_.contains(statement.tensor)) result_.results.push_back(statement.tensor);
    }
    widen_halves(result_);
    return std::move(result_);
  }

 private:
  void resolve(const Statement& statement) {
    if (operands_.contains(statement.tensor)) {
      fail_in(statement, nullptr,
              concat("'", statement.tensor, "' is given as an operand, so it cannot be assigned; ",
                     "give the result another name or remove the operand"));
    }
    if (result_.tensors.contains(statement.tensor)) {
      fail_in(statement, nullptr,
              concat("'", statement.tensor, "' is assigned twice; give each result its own name"));
    }
    for (const Access* access : accesses(statement.value)) use(statement, *access);
    const Statement summed = insert_sums(statement);
    Statement typed = assign_types(summed, result_.tensors, options_.numbers);
    result_.extents.push_back(extents_of(typed));
    check_left_side(typed);
    result_.tensors.emplace(typed.tensor, result_type(typed));
    result_.statements.push_back(std::move(typed));
  }

  void use(const Statement& statement, const Access& access) {
    read_.insert(access.tensor);
    if (!result_.tensors.contains(access.tensor)) {
      const auto operand = operands_.find(access.tensor);
      if (operand == operands_.end()) fail_unknown(statement, access);
      result_.tensors.insert(*operand);
      result_.operands.push_back(access.tensor);
    }
    const int rank = result_.tensors.at(access.tensor).format.rank();
    if (rank == static_cast<int>(access.indices.size())) return;
    fail_in(statement, &access,
            concat(called(access), " has rank ", rank, ", but the number of its indices here is ",
                   access.indices.size(),
                   rank == 0 ? "; a scalar has none" : "; give one for each dimension"));
  }

  // Whether the access is the first argument of max or min, which may be an index or a value.
  static bool is_first_of_two(const Expr& value, const Access& access) {
    return any_part(value, [&](const Expr& part) {
      const auto* binary = part.as<Binary>();
      return binary && (binary->op == BinaryOp::Max || binary->op == BinaryOp::Min) &&
             binary->a.get() == &access;
    });
  }

  [[noreturn]] void fail_unknown(const Statement& statement, const Access& access) const {
    std::string known;
    for (const auto& [name, type] : operands_) known += (known.empty() ? "" : ", ") + name;
    fail_in(statement, &access,
            concat("there is no operand '", access.tensor, "'", did_you_mean(access.tensor, known),
                   "; ", known.empty() ? "none were given" : concat("the operands are ", known),
                   is_first_of_two(statement.value, access)
                       ? "; to reduce over an index, use one that the expression has"
                       : ""));
  }

  // Traces dimensions of intermediates back to dimensions of operands.
  std::map<std::string, std::vector<ExtentUse>> extents_of(const Statement& statement) const {
    std::map<std::string, std::vector<ExtentUse>> extents;
    for (const Access* access : accesses(statement.value)) {
      for (size_t d = 0; d < access->indices.size(); ++d) {
        std::vector<ExtentUse>& uses = extents[access->indices[d]];
        for (const ExtentUse& use : sources_of(access->tensor, d)) add_new(uses, use);
      }
    }
    return extents;
  }

  std::vector<ExtentUse> sources_of(const std::string& tensor, size_t dimension) const {
    for (size_t n = 0; n < result_.statements.size(); ++n) {
      const Statement& statement = result_.statements[n];
      if (statement.tensor == tensor) return result_.extents[n].at(statement.indices[dimension]);
    }
    return {{tensor, static_cast<int>(dimension)}};
  }

  static void add_new(std::vector<ExtentUse>& uses, const ExtentUse& use) {
    const bool known = std::any_of(uses.begin(), uses.end(), [&](const ExtentUse& other) {
      return other.tensor == use.tensor && other.dimension == use.dimension;
    });
    if (!known) uses.push_back(use);
  }

  TensorType result_type(const Statement& statement) const {
    TensorType type = stored_type(statement);
    type.unbounded = may_be_infinite(statement.value, [&](const std::string& tensor) {
      return result_.tensors.at(tensor).unbounded;
    });
    return type;
  }

  TensorType stored_type(const Statement& statement) const {
    const auto chosen = options_.out_formats.find(statement.tensor);
    if (chosen == options_.out_formats.end()) {
      return {statement.value.type(), index_type(statement),
              result_format(statement, result_.tensors)};
    }
    if (chosen->second.rank() != static_cast<int>(statement.indices.size())) {
      fail_in(statement, nullptr,
              concat("the format ", chosen->second.name(), " has ", chosen->second.rank(),
                     " dimensions, but the result has ", statement.indices.size()));
    }
    return {statement.value.type(), index_type(statement), chosen->second};
  }

  DType index_type(const Statement& statement) const {
    if (options_.index_type) return *options_.index_type;
    bool any_sparse = false;
    DType widest = DType::Int32;
    for (const Access* access : accesses(statement.value)) {
      const TensorType& type = result_.tensors.at(access->tensor);
      if (type.format.is_dense()) continue;
      any_sparse = true;
      widest = std::max(widest, type.index_type);
    }
    return any_sparse ? widest : DType::Int64;
  }

  void check_out_formats() const {
    for (const auto& [name, format] : options_.out_formats) {
      if (result_.tensors.contains(name) && !operands_.contains(name)) continue;
      user_error("The format ", format.name(), " is given for '", name,
                 "', which no statement assigns.");
    }
  }

  const std::map<std::string, TensorType>& operands_;
  const ResolveOptions& options_;
  ResolvedProgram result_;
  std::set<std::string> read_;
};

}  // namespace

ResolvedProgram resolve(const ParsedProgram& program,
                        const std::map<std::string, TensorType>& operands,
                        const ResolveOptions& options) {
  return Resolver(operands, options).run(program);
}

}  // namespace tulle::expr
