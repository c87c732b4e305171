// Binds parameters to operands.
#include "driver/variant.h"

#include <algorithm>
#include <map>

#include "lower/storage.h"
#include "support/check.h"

namespace tulle {

namespace {

const ArraySpan& array_of(const std::vector<TensorView>& views, const ArraySource& source) {
  const TensorView& view = views[static_cast<size_t>(source.operand)];
  switch (source.kind) {
    case ArraySource::Kind::Pos:
      return view.levels[static_cast<size_t>(source.level)].pos;
    case ArraySource::Kind::Crd:
      return view.levels[static_cast<size_t>(source.level)].crd;
    case ArraySource::Kind::Values:
      return view.values;
  }
  internal_error("an array without a source");
}

}  // namespace

bool Variant::serves(const std::vector<int64_t>& extents) const {
  return std::all_of(guards.begin(), guards.end(),
                     [&](const Guard& guard) { return extents[guard.index] == guard.extent; });
}

void Variant::bind(const std::vector<TensorSpec>& operands, const std::vector<std::string>& indices,
                   const expr::ResolvedProgram& program) {
  std::map<std::string, ArraySource> named_arrays;
  std::map<std::string, ScalarSource> named_scalars;
  named_scalars[lower::kThreads] = {ScalarSource::Kind::Threads, 0};
  for (size_t i = 0; i < indices.size(); ++i) {
    named_scalars[lower::extent_name(indices[i])] = {ScalarSource::Kind::Extent,
                                                     static_cast<int>(i)};
  }
  for (size_t o = 0; o < operands.size(); ++o) {
    const std::string& name = operands[o].name;
    const int operand = static_cast<int>(o);
    named_scalars[lower::count_name(name)] = {ScalarSource::Kind::Count, operand};
    const lower::TensorBuffers buffers = lower::buffers_of(name, program.tensors.at(name));
    named_arrays[name] = {operand, ArraySource::Kind::Values, 0};
    for (size_t l = 0; l < buffers.pos.size(); ++l) {
      const int level = static_cast<int>(l);
      if (buffers.pos[l]) {
        named_arrays[buffers.pos[l]->name] = {operand, ArraySource::Kind::Pos, level};
      }
      if (buffers.crd[l]) {
        named_arrays[buffers.crd[l]->name] = {operand, ArraySource::Kind::Crd, level};
      }
    }
  }
  for (size_t b = 0; b < executable.buffers.size(); ++b) {
    arrays.push_back(named_arrays.at(executable.buffers[b]));
    named_scalars[executable.buffers[b] + ".size"] = {ScalarSource::Kind::Length,
                                                      static_cast<int>(b)};
    const ArraySource& array = arrays.back();
    if (array.kind == ArraySource::Kind::Crd && array.level == 0) {
      named_scalars[lower::stored_name(operands[static_cast<size_t>(array.operand)].name)] = {
          ScalarSource::Kind::Length, static_cast<int>(b)};
    }
  }
  for (const std::string& name : executable.scalars) scalars.push_back(named_scalars.at(name));
}

void Variant::read_arguments(const std::vector<TensorView>& views,
                             const std::vector<int64_t>& extents, int threads,
                             std::vector<void*>& buffers,
                             std::vector<int64_t>& scalar_values) const {
  buffers.clear();
  for (const ArraySource& source : arrays) {
    // NOLINTNEXTLINE: kernels never write to operands
    buffers.push_back(const_cast<void*>(array_of(views, source).data));
  }
  scalar_values.clear();
  for (const ScalarSource& source : scalars) {
    const auto at = static_cast<size_t>(source.at);
    switch (source.kind) {
      case ScalarSource::Kind::Threads:
        scalar_values.push_back(threads);
        break;
      case ScalarSource::Kind::Extent:
        scalar_values.push_back(extents[at]);
        break;
      case ScalarSource::Kind::Count:
        scalar_values.push_back(views[at].values.length);
        break;
      case ScalarSource::Kind::Length:
        scalar_values.push_back(array_of(views, arrays[at]).length);
        break;
    }
  }
}

}  // namespace tulle
