// Reads and checks the extents of calls.
#include "api/extent_sources.h"

#include <algorithm>

#include "driver/check_lengths.h"
#include "expr/extents.h"
#include "support/check.h"

namespace tulle {

namespace {

// The operands that are declared to have the structure of another one, with that one.
std::vector<std::pair<int, int>> alike_operands(const OperandParts& parts) {
  std::vector<std::pair<int, int>> alike;
  for (size_t o = 0; o < parts.specs().size(); ++o) {
    const TensorSpec& spec = parts.specs()[o];
    if (spec.like.empty()) continue;
    const auto owner =
        std::find_if(parts.specs().begin(), parts.specs().end(),
                     [&](const TensorSpec& other) { return other.name == spec.like; });
    if (owner == parts.specs().end())
      user_error(spec.name, ": no operand ", spec.like, " has a structure to share");
    const auto other = static_cast<size_t>(owner - parts.specs().begin());
    if (!owner->like.empty() || parts.formats()[o] != parts.formats()[other] ||
        owner->index_type != spec.index_type) {
      user_error(spec.name, ": the structure of ", spec.like, " has another format or index type");
    }
    alike.emplace_back(static_cast<int>(o), static_cast<int>(other));
  }
  return alike;
}

}  // namespace

ExtentSources::ExtentSources(const plan::UniqueProgram& program, const OperandParts& parts,
                             const std::vector<OperandDimension>& ones)
    : program_(program), parts_(parts), ones_(ones), alike_(alike_operands(parts)) {
  for (const auto& [index, uses] : program.extents) {
    indices_.push_back(index);
    std::vector<OperandDimension>& dimensions = sources_.emplace_back();
    for (const expr::ExtentUse& use : uses) {
      dimensions.push_back({parts.number_of(use.tensor), use.dimension});
    }
  }
}

OperandDimension ExtentSources::first_source(const std::string& index) const {
  const auto found = std::find(indices_.begin(), indices_.end(), index);
  TULLE_CHECK(found != indices_.end(), "the extent of ", index);
  return sources_[static_cast<size_t>(found - indices_.begin())].front();
}

void ExtentSources::read(const std::vector<TensorView>& views,
                         std::vector<int64_t>& extents) const {
  for (size_t o = 0; o < views.size(); ++o) {
    check_lengths(parts_.specs()[o], parts_.formats()[o], views[o]);
  }
  check_structures(views);
  check_ones(views);
  extents.clear();
  for (const std::vector<OperandDimension>& sources : sources_) {
    const int64_t extent = size_of(views, sources.front());
    for (const OperandDimension& other : sources) {
      if (size_of(views, other) != extent) fail_extents(views);
    }
    extents.push_back(extent);
  }
}

// Checks that operands with a common structure have the same arrays.
void ExtentSources::check_structures(const std::vector<TensorView>& views) const {
  for (const auto& [operand, other] : alike_) {
    const TensorView &one = views[static_cast<size_t>(operand)],
                     &two = views[static_cast<size_t>(other)];
    const auto is_same = [](const LevelSpan& a, const LevelSpan& b) {
      return a.pos.data == b.pos.data && a.crd.data == b.crd.data;
    };
    if (one.sizes == two.sizes && std::equal(one.levels.begin(), one.levels.end(),
                                             two.levels.begin(), two.levels.end(), is_same)) {
      continue;
    }
    user_error(parts_.specs()[static_cast<size_t>(operand)].name,
               ": expected the structure arrays of ",
               parts_.specs()[static_cast<size_t>(other)].name);
  }
}

void ExtentSources::check_ones(const std::vector<TensorView>& views) const {
  for (const OperandDimension& one : ones_) {
    for (int part = 0; part < static_cast<int>(views.size()); ++part) {
      const int64_t size =
          parts_.owner(part) == one.operand ? size_of(views, {part, one.dimension}) : int64_t{1};
      if (size == 1) continue;
      user_error("operand ", one.operand + 1, " has size ", size, " along dimension ",
                 one.dimension, ", but the program was compiled for size 1");
    }
  }
}

// Throws the error that points at the uses of an index with two extents.
void ExtentSources::fail_extents(const std::vector<TensorView>& views) const {
  expr::Sizes sizes;
  for (size_t o = 0; o < views.size(); ++o) sizes[parts_.specs()[o].name] = views[o].sizes;
  expr::index_extents(program_.program, sizes);
  internal_error("extents that differ");
}

}  // namespace tulle
