// Replaces composite operands by their parts.
#include "composite/operand_parts.h"

#include <algorithm>

#include "composite/composite.h"
#include "format/composite.h"
#include "support/check.h"
#include "tulle/type_names.h"

namespace tulle {

namespace {

// Checks the type, because an enumeration can hold any number.
void check_value_type(const TensorSpec& spec) {
  if (size_of(spec.type) > 0) return;
  std::string known;
#define X(name, text, bytes) known += concat(known.empty() ? "" : ", ", long_name_of(DType::name));
  TULLE_DTYPES(X)
#undef X
  user_error(spec.name, ": no element type has the number ", static_cast<int>(spec.type),
             "; the types are ", known);
}

}  // namespace

OperandParts::OperandParts(const std::vector<TensorSpec>& given) {
  for (size_t o = 0; o < given.size(); ++o) {
    const TensorSpec& spec = given[o];
    const int owner = static_cast<int>(o);
    if (types_.contains(spec.name)) user_error("operand '", spec.name, "' is given twice");
    given_.push_back(spec.name);
    check_value_type(spec);
    if (spec.index_type != DType::Int32 && spec.index_type != DType::Int64) {
      user_error(spec.name, ": the index type ", long_name_of(spec.index_type),
                 " was given, but positions and coordinates are int32 or int64");
    }
    if (!CompositeFormat::is_composite(spec.format)) {
      Format format = Format::parse(spec.format, spec.rank);
      types_[spec.name] = {spec.type, spec.index_type, format};
      types_[spec.name].like = spec.like;
      add(spec, owner, spec.name, format);
      continue;
    }
    const CompositeFormat composite = CompositeFormat::parse(spec.format, spec.rank);
    types_[spec.name] = {spec.type, spec.index_type, composite.merged()};
    types_[spec.name].batches = spec.rank - 2;
    for (const CompositeFormat::Part& part : composite.parts()) {
      auto& parts = composites_[spec.name];
      const std::string name = concat(spec.name, ".part", parts.size());
      parts.push_back({name, {spec.type, spec.index_type, part.format}});
      selectors_[spec.name].push_back(CompositeFormat::describe(part));
      add(spec, owner, name, part.format);
    }
  }
}

int OperandParts::number_of(const std::string& name) const {
  for (size_t part = 0; part < specs_.size(); ++part) {
    if (specs_[part].name == name) return static_cast<int>(part);
  }
  internal_error("operand ", name);
}

void OperandParts::add(const TensorSpec& given, int owner, const std::string& name,
                       const Format& format) {
  TensorSpec spec = given;
  spec.name = name;
  if (name != given.name) {  // these are facts about the whole tensor
    spec.longest_row = 0;
    spec.like.clear();
  }
  spec.format = format.name();
  specs_.push_back(std::move(spec));
  formats_.push_back(format);
  owners_.push_back(owner);
}

const std::vector<TensorView>& OperandParts::views(const std::vector<TensorView>& given,
                                                   std::vector<TensorView>& room) const {
  check_operand_count(given_.size(), given.size());
  if (composites_.empty()) return given;  // NOLINT: both outlive the call
  room.resize(specs_.size());
  size_t next = 0;
  for (size_t o = 0; o < given.size(); ++o) {
    const auto composite = composites_.find(given_[o]);
    if (composite == composites_.end()) {
      room[next++] = given[o];
      continue;
    }
    if (given[o].parts.size() != composite->second.size()) {
      user_error(given_[o], ": ", given[o].parts.size(), " parts were given, but its format has ",
                 composite->second.size());
    }
    for (const TensorView& part : given[o].parts) {
      room[next] = part;
      room[next].structure = given[o].structure;
      room[next++].sizes = given[o].sizes;
    }
  }
  return room;
}

std::string OperandParts::text_of(const std::vector<TensorView>& given) const {
  std::string text;
  for (size_t o = 0; o < given_.size(); ++o) {
    const auto composite = composites_.find(given_[o]);
    if (composite == composites_.end()) continue;
    int64_t total = 0;
    for (const TensorView& part : given[o].parts) total += part.values.length;
    for (size_t p = 0; p < composite->second.size(); ++p) {
      const int64_t stored = given[o].parts[p].values.length;
      text += concat("  ", composite->second[p].name, ": ", selectors_.at(given_[o])[p], ": ",
                     composite->second[p].type.format.name(), ", ", stored, " of ", total,
                     " values stored\n");
    }
  }
  return text;
}

}  // namespace tulle
