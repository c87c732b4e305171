// Describes and collects results.
#include "api/result_tensors.h"

#include <unistd.h>

#include "support/check.h"

namespace tulle {

namespace {

// The dimensions of the parts that give the sizes of a result.
std::vector<OperandDimension> size_sources(const expr::ResolvedProgram& program,
                                           const ExtentSources& extents, const std::string& name) {
  std::vector<OperandDimension> sources;
  for (const expr::Statement& statement : program.statements) {
    if (statement.tensor != name) continue;
    for (const std::string& index : statement.indices) {
      sources.push_back(extents.first_source(index));
    }
  }
  return sources;
}

// A structure array of an operand, as an array of a result.
ResultArray borrowed(const ArraySpan& span, DType type, int operand) {
  if (span.length == 0 && !span.data) return {};
  void* const data = const_cast<void*>(span.data);  // callers only read it
  return {data, span.length, type, nullptr, operand};
}

}  // namespace

ResultTensors::ResultTensors(const expr::ResolvedProgram& program, const OperandParts& parts,
                             const ExtentSources& extents,
                             const std::map<std::string, std::string>& pattern_owners)
    : parts_(parts) {
  for (const std::string& name : program.results) {
    const expr::TensorType& type = program.tensors.at(name);
    TensorSpec spec{name, type.format.name(), type.type, type.index_type, type.format.rank(), {}};
    const auto owner = pattern_owners.find(name);
    if (owner != pattern_owners.end()) spec.like = owner->second;
    sizes_from_.push_back(size_sources(program, extents, name));
    for (OperandDimension source : sizes_from_.back()) {
      source.operand = parts.owner(source.operand);
      spec.sizes_from.push_back(source);
    }
    specs_.push_back(std::move(spec));
    formats_.push_back(type.format);
  }
}

void ResultTensors::check_positions_fit(const std::vector<TensorView>& views) const {
  static const int64_t memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  for (size_t r = 0; r < specs_.size(); ++r) {
    if (formats_[r].is_dense()) continue;
    std::vector<int64_t> sizes;
    for (const OperandDimension& source : sizes_from_[r]) sizes.push_back(size_of(views, source));
    int64_t bytes = size_of(specs_[r].index_type);
    for (const Level& level : formats_[r].levels()) {
      if (!is_full(level.kind)) break;
      const int64_t extent = level.expr.extent(sizes);
      if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > memory) {
        user_error(
            "the result ", specs_[r].name, " in format ", specs_[r].format,
            " would need more memory for the positions of its dense levels than this machine has;"
            " choose a format without dense levels, such as dcsr, csf or coo");
      }
    }
  }
}

void ResultTensors::collect(const std::vector<ResultLayout>& layouts,
                            const std::vector<TensorView>& views,
                            const std::vector<runtime::RunResult>& found,
                            const std::vector<void*>& handles,
                            std::vector<ResultTensor>& results) const {
  results.resize(specs_.size());
  for (size_t r = 0; r < results.size(); ++r) {
    const ResultLayout& layout = layouts[r];
    const TensorSpec& spec = specs_[r];
    ResultTensor& result = results[r];
    result.sizes.clear();
    for (const OperandDimension& source : sizes_from_[r]) {
      result.sizes.push_back(size_of(views, source));
    }
    auto array = [&](int at, DType type) {
      if (at < 0) return ResultArray{};
      const auto number = static_cast<size_t>(at);
      return ResultArray{found[number].data, found[number].elements, type, handles[number], -1};
    };
    result.values = array(layout.values, spec.type);
    result.pos.clear();
    result.crd.clear();
    const int shared = layout.shared_operand.empty() ? -1 : parts_.number_of(layout.shared_operand);
    for (size_t l = 0; l < layout.pos.size(); ++l) {
      result.pos.push_back(array(layout.pos[l], spec.index_type));
      const DType crd_type = coordinate_type(formats_[r].levels()[l].kind, spec.index_type);
      result.crd.push_back(array(layout.crd[l], crd_type));
      // The result may have dense levels below those of the operand.
      if (shared < 0 || l >= views[static_cast<size_t>(shared)].levels.size()) continue;
      const LevelSpan& level = views[static_cast<size_t>(shared)].levels[l];
      result.pos[l] = borrowed(level.pos, spec.index_type, parts_.owner(shared));
      result.crd[l] = borrowed(level.crd, crd_type, parts_.owner(shared));
    }
  }
}

}  // namespace tulle
