// Result arrays, temporaries and cached derived data in the caller's memory.
#include "driver/result_memory.h"

#include <algorithm>
#include <utility>

#include "cache/kept_data.h"
#include "support/check.h"

namespace tulle {

namespace {

bool is_same(const ArraySpan& one, const ArraySpan& other) {
  return one.data == other.data && one.length == other.length;
}

bool has_same_levels(const TensorView& one, const TensorView& other) {
  return std::equal(one.levels.begin(), one.levels.end(), other.levels.begin(), other.levels.end(),
                    [&](const LevelSpan& a, const LevelSpan& b) {
                      return is_same(a.pos, b.pos) && is_same(a.crd, b.crd);
                    });
}

}  // namespace

void* ResultMemory::allocate(size_t array, const loop::BufferNode& buffer, int64_t elements,
                             bool zeroed) {
  const tulle::Memory::Block block = block_for(array, buffer.element, elements, zeroed);
  handles_[array] = block.handle;
  return block.data;
}

void* ResultMemory::allocate_temporary(int64_t bytes) {
  temporaries_.push_back(memory_.allocate_temporary(bytes));
  return temporaries_.back().data;
}

void ResultMemory::release_temporary(void* data) {
  const auto found = std::find_if(temporaries_.begin(), temporaries_.end(),
                                  [&](const auto& block) { return block.data == data; });
  if (found == temporaries_.end()) return;
  memory_.release_temporary(*found);
  temporaries_.erase(found);
}

std::span<void* const> ResultMemory::kept(const std::string& tensor, const std::string& what) {
  const size_t at = operand_number(tensor);
  if (at == operands_.size()) return {};
  return find_kept(views_[at].structure, device_.ordinal, cache_name(at, what));
}

bool ResultMemory::keep(const std::string& tensor, const std::string& what,
                        std::span<void* const> arrays, int64_t bytes) {
  const size_t at = operand_number(tensor);
  if (at == operands_.size() || views_[at].structure == 0) return false;
  std::vector<std::function<void()>> release;
  for (void* array : arrays) {
    const auto found = std::find_if(temporaries_.begin(), temporaries_.end(),
                                    [&](const auto& block) { return block.data == array; });
    if (found == temporaries_.end()) continue;  // an array without elements
    std::function<void()> later = memory_.keep_temporary(*found);
    if (!later) return false;
    temporaries_.erase(found);
    release.push_back(std::move(later));
  }
  keep_arrays(views_[at].structure, device_.ordinal, cache_name(at, what), arrays, bytes,
              std::move(release));
  return true;
}

size_t ResultMemory::operand_number(const std::string& tensor) const {
  const auto found =
      std::find_if(operands_.begin(), operands_.end(),
                   [&](const TensorSpec& operand) { return operand.name == tensor; });
  return static_cast<size_t>(found - operands_.begin());
}

std::string ResultMemory::cache_name(size_t operand, const std::string& what) const {
  const auto has_structure = [&](const TensorView& view) {
    return view.structure == views_[operand].structure;
  };
  const auto first = std::find_if(views_.begin(), views_.end(), has_structure);
  const auto same = std::find_if(first, views_.end(), [&](const TensorView& view) {
    return has_structure(view) && has_same_levels(view, views_[operand]);
  });
  return same == first ? what : concat(what, "_of_part", same - first);
}

tulle::Memory::Block ResultMemory::block_for(size_t array, DType type, int64_t elements,
                                             bool zeroed) {
  for (size_t result = 0; result < results_.size(); ++result) {
    if (results_[result].values == static_cast<int>(array))
      return memory_.allocate_values(result, type, elements, zeroed);
  }
  return memory_.allocate(type, elements, zeroed);
}

}  // namespace tulle
