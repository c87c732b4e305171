// Reads extents from sizes.
#include "expr/extents.h"

#include "expr/print.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

// One use of an index: a dimension of an access, and its size.
struct Use {
  const Access* access;
  size_t dimension;
  int64_t size;
};

std::string text_of(const Use& use) {
  return concat("dimension ", use.dimension, " of ", called(*use.access), " is ", use.size);
}

[[noreturn]] void fail_sizes(const Statement& statement, const Use& first, const Use& other) {
  const Span& written = other.access->place.index(other.dimension);
  const std::string index =
      written ? std::string(written.text()) : other.access->indices[other.dimension];
  fail_at_index(statement, other.access, other.dimension,
                concat("the index '", index, "' has two extents: ", text_of(first), ", ",
                       text_of(other), "; they must be equal"),
                first.access->place.index(first.dimension));
}

// The extents of a statement; `size_of` returns the size of a dimension of a tensor it reads.
template <typename SizeOf>
std::map<std::string, int64_t> extents_of(const Statement& statement, const SizeOf& size_of) {
  std::map<std::string, Use> first;
  std::map<std::string, int64_t> extents;
  for (const Access* access : accesses(statement.value)) {
    for (size_t d = 0; d < access->indices.size(); ++d) {
      const Use use{access, d, size_of(access->tensor, d)};
      const auto [found, is_new] = first.try_emplace(access->indices[d], use);
      if (found->second.size != use.size) fail_sizes(statement, found->second, use);
      extents[access->indices[d]] = use.size;
    }
  }
  return extents;
}

}  // namespace

std::vector<std::map<std::string, int64_t>> index_extents(const ResolvedProgram& program,
                                                          const Sizes& operands) {
  std::vector<std::map<std::string, int64_t>> result;
  Sizes known = operands;
  const auto size_of = [&](const std::string& tensor, size_t dimension) {
    const auto sizes = known.find(tensor);
    if (sizes == known.end()) user_error("The operand '", tensor, "' was not given.");
    TULLE_CHECK(dimension < sizes->second.size(), "the rank of ", tensor);
    return sizes->second[dimension];
  };
  for (const Statement& statement : program.statements) {
    result.push_back(extents_of(statement, size_of));
    for (const std::string& index : statement.indices) {
      known[statement.tensor].push_back(result.back().at(index));
    }
  }
  return result;
}

}  // namespace tulle::expr
