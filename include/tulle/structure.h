// How tensors are stored: what a format says, whether arrays hold it, parts of composites.
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

// Which entries of a tensor belong to which part of a composite format: their numbers, part by part
// and in their order within each, and how many each part has.
struct SelectedEntries {
  ResultArray order;  // of int64
  std::vector<int64_t> counts;
};
// The tensor is given in the format that FormatInfo::sorted says. The array comes from `memory`. On
// a GPU it waits for the counts.
TULLE_API SelectedEntries select_parts(std::string_view format, const TensorSpec& spec,
                                       const TensorView& view, Memory& memory,
                                       const RunOptions& options = {});

// The parts of a tensor in a composite format, each in its own. The arrays of the parts come from
// `memory`.
TULLE_API std::vector<ResultTensor> decompose(std::string_view format, const TensorSpec& spec,
                                              const TensorView& view, Memory& memory,
                                              const RunOptions& options = {});

// Checks positions and coordinates in O(entries), in host memory and with the threads of `options`;
// raises UserError that names the tensor, the place and the remedy.
TULLE_API void validate(const TensorSpec& spec, const TensorView& view,
                        const RunOptions& options = {});
// The same for structure that may still have to be sorted: whether coordinates are ordered and
// unique as the format says. Where they are not, validate it in a format that is 'unordered' and
// 'nonunique', and convert.
TULLE_API bool is_in_order(const TensorSpec& spec, const TensorView& view,
                           const RunOptions& options = {});

}  // namespace tulle
