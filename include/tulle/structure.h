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

// The format's text in its long form and its shortest form, and which arrays its levels store.
struct FormatInfo {
  std::string text;
  std::string name;
  struct Level {
    bool pos = false, crd = false;  // positions, coordinates
    bool bits = false;    // in place of coordinates a byte a slot: whether it holds an entry
    bool full = false;    // it holds every coordinate
    bool direct = false;  // a coordinate has the slot parent * extent + coordinate
    bool unused = false;  // slots whose coordinate is -1 hold nothing
    int64_t width = 0;    // slots of each parent, where all have the same number
    int dimension = 0;
    // 'w' the whole coordinate, 'q' its quotient, 'r' its remainder by `divisor`, 'd' its
    // difference to that of dimension `second`
    char part = 'w';
    int64_t divisor = 1;
    int second = -1;
  };
  std::vector<Level> levels;
  struct Part {
    std::string selector;  // for people
    std::string format;
  };
  std::vector<Part> parts;  // of a composite format, which has no levels of its own
  std::string sorted = {};  // of a composite format: the format in which select_parts takes entries
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
