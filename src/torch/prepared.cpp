// Makes programs from keys.
#include "prepared.h"

#include "key.h"

namespace tulle::shim {

TensorLayout layout_of(const TensorSpec& spec) {
  const FormatInfo format = describe_format(spec.format, spec.rank);
  TensorLayout layout;
  layout.spec = spec;
  layout.is_plain = format.name == "dense";
  layout.long_form = format.text;
  layout.levels = format.levels;
  for (const PartInfo& part : format.parts) {
    TensorSpec spec_of_part = spec;
    spec_of_part.format = part.format;
    layout.parts.push_back(layout_of(spec_of_part));
    const auto& arrays = layout.parts.back().arrays;
    layout.arrays.insert(layout.arrays.end(), arrays.begin(), arrays.end());
  }
  for (size_t level = 0; level < format.levels.size(); ++level) {
    if (format.levels[level].pos) layout.arrays.push_back({level, true, spec.index_type});
    if (format.levels[level].crd) layout.arrays.push_back({level, false, spec.index_type});
    if (format.levels[level].bits) layout.arrays.push_back({level, false, DType::Bool});
  }
  return layout;
}

std::shared_ptr<const Prepared> prepare(std::string_view text) {
  const Key key = parse_key(text);
  auto prepared = std::make_shared<Prepared>();
  prepared->program = key.is_einsum ? Program::from_einsum(key.text, key.operands, key.options)
                                    : Program::from_notation(key.text, key.operands, key.options);
  for (const TensorSpec& spec : prepared->program->operands()) {
    prepared->operands.push_back(layout_of(spec));
    const TensorLayout& layout = prepared->operands.back();
    prepared->tensor_count += layout.arrays.size() + 1;
    if (layout.is_plain) continue;
    prepared->size_count += layout.number_count();
    ++prepared->structure_count;
  }
  for (const TensorSpec& spec : prepared->program->results()) {
    prepared->results.push_back(layout_of(spec));
    const auto& named = key.options.out_formats;
    prepared->results.back().is_asked_for = named.contains(spec.name) || named.contains("*");
  }
  return prepared;
}

}  // namespace tulle::shim
