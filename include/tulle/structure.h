// How tensors are stored: descriptions of formats, checks of structure, parts of composites.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tulle/export.h"
#include "tulle/resources.h"
#include "tulle/tensor.h"

namespace tulle {

// The arrays that a level stores, and how its slots relate to coordinates.
struct LevelInfo {
  bool pos = false, crd = false;  // whether it stores positions, coordinates
  bool bits = false;  // instead of coordinates, one byte per slot: whether the slot holds an entry
  bool full = false;  // whether it holds every coordinate
  bool direct = false;  // whether a coordinate's slot is parent * extent + coordinate
  bool unused = false;  // whether slots with coordinate -1 hold nothing
  int64_t width = 0;    // slots per parent, where all parents have the same number
  int dimension = 0;
  // The coordinate of the level: 'w' the whole coordinate of the dimension, 'q' its quotient and
  // 'r' its remainder by `divisor`, 'd' its difference from the coordinate of dimension `second`.
  char part = 'w';
  int64_t divisor = 1;
  int second = -1;
};

// A part of a composite format.
struct PartInfo {
  std::string selector;  // readable description of the entries it takes
  std::string format;
};

// A format: its long form, its shortest form, and its levels or parts.
struct FormatInfo {
  std::string text;
  std::string name;
  std::vector<LevelInfo> levels;
  std::vector<PartInfo> parts;  // of a composite format, which has no levels of its own
  std::string sorted = {};      // of a composite format: the input format of select_parts
};
TULLE_API FormatInfo describe_format(std::string_view format, int rank);

// The entries of a tensor, grouped by the part of a composite format that takes them.
struct SelectedEntries {
  ResultArray order;            // int64 entry numbers, part by part, ascending within each part
  std::vector<int64_t> counts;  // the number of entries of each part
};
// Selects the entries of each part. The tensor must be in the format FormatInfo::sorted. `memory`
// allocates the array. On a GPU the call waits for the counts.
TULLE_API SelectedEntries select_parts(std::string_view format, const TensorSpec& spec,
                                       const TensorView& view, Memory& memory,
                                       const RunOptions& options = {});

// Converts a tensor to a composite format and returns its parts. `memory` allocates their arrays.
TULLE_API std::vector<ResultTensor> decompose(std::string_view format, const TensorSpec& spec,
                                              const TensorView& view, Memory& memory,
                                              const RunOptions& options = {});

// Checks positions and coordinates, which must be in host memory, in O(entries) with the threads of
// `options`. Throws UserError that names the tensor, the wrong array element and the remedy.
TULLE_API void validate(const TensorSpec& spec, const TensorView& view,
                        const RunOptions& options = {});
// The same for structure that may be unsorted: returns whether coordinates are ordered and unique
// as the format requires. If they are not, validate the tensor in an 'unordered' and 'nonunique'
// format and convert it.
TULLE_API bool is_in_order(const TensorSpec& spec, const TensorView& view,
                           const RunOptions& options = {});

}  // namespace tulle
