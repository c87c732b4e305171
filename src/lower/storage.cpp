// Makes the names of arrays and extents.
#include "lower/storage.h"

#include "support/check.h"

namespace tulle::lower {

TensorBuffers buffers_of(const std::string& tensor, const expr::TensorType& type) {
  TensorBuffers buffers;
  buffers.values = loop::make_buffer(tensor, type.type);
  const std::vector<Level>& levels = type.format.levels();
  for (size_t l = 0; l < levels.size(); ++l) {
    const LevelKind kind = levels[l].kind;
    buffers.pos.push_back(stores_positions(kind)
                              ? loop::make_buffer(concat(tensor, ".pos", l), type.index_type)
                              : nullptr);
    const bool stores = stores_coordinates(kind) || stores_marks(kind);
    buffers.crd.push_back(
        stores ? loop::make_buffer(concat(tensor, stores_marks(kind) ? ".bits" : ".crd", l),
                                   coordinate_type(kind, type.index_type))
               : nullptr);
  }
  return buffers;
}

std::string extent_name(const std::string& variable) { return variable + ".extent"; }
std::string chunks_name(const std::string& result) { return result + ".chunks"; }
std::string count_name(const std::string& tensor) { return tensor + ".count"; }
std::string stored_name(const std::string& tensor) { return tensor + ".stored"; }

bool counts_stored(const Format& format) {
  if (format.level_count() == 0) return false;
  const Level& first = format.levels().front();
  return stores_positions(first.kind) && stores_coordinates(first.kind) && first.unique &&
         first.multiple <= 1;
}

}  // namespace tulle::lower
