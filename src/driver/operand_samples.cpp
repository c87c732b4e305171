// Samples coordinates and marks.
#include "driver/operand_samples.h"

#include <array>

#include "plan/statistics.h"

namespace tulle {

OperandSamples::OperandSamples(const TensorSpec& spec, const Format& format) : spec_(spec) {
  for (int l = 0; l < format.level_count(); ++l) {
    const LevelKind kind = format.levels()[static_cast<size_t>(l)].kind;
    if (stores_coordinates(kind)) coordinate_level_ = l;
    if (stores_marks(kind)) marked_level_ = l;
  }
}

double OperandSamples::distinct_share(const TensorView& view, const Device& device) const {
  if (coordinate_level_ < 0 || device.is_cuda()) return 1;
  const ArraySpan& coordinates = view.levels[static_cast<size_t>(coordinate_level_)].crd;
  if (!coordinates.data) return 1;
  struct Sampled {
    const void* data = nullptr;
    int64_t length = 0;
    uint64_t print = 0;
    double share = 1;
  };
  thread_local std::array<Sampled, 64> cache;
  Sampled& slot = cache[(reinterpret_cast<uintptr_t>(coordinates.data) >> 6) % cache.size()];
  const DType type = spec_.index_type;
  const uint64_t print = plan::fingerprint(coordinates.data, coordinates.length, type);
  if (slot.data != coordinates.data || slot.length != coordinates.length || slot.print != print) {
    slot = {coordinates.data, coordinates.length, print,
            plan::sample_distinct_share(coordinates.data, coordinates.length, type)};
  }
  return slot.share;
}

int64_t OperandSamples::entries(const TensorView& view, const Device& device) const {
  const int64_t stored = view.values.length;
  if (marked_level_ < 0 || device.is_cuda()) return stored;
  const ArraySpan& marks = view.levels[static_cast<size_t>(marked_level_)].crd;
  if (!marks.data) return stored;
  const double share = plan::sample_marked_share(marks.data, marks.length);
  return static_cast<int64_t>(share * static_cast<double>(stored));
}

}  // namespace tulle
