// Instantiates the kernels of a scan from text.
#include "passes/scan_kernels.h"

#include "passes/kernel_text.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int64_t kTile = 2048;  // 8 warps, 8 times 32 elements each

// Inclusive sums over the 32 lanes, from `own` to `sum`.
constexpr const char* kScanLanes = R"(
        var sum: i64 = own
        let by_1: i64 = lane_shuffle(up, sum, 1, 32)
        sum = select(l >= 1, sum + by_1, sum)
        let by_2: i64 = lane_shuffle(up, sum, 2, 32)
        sum = select(l >= 2, sum + by_2, sum)
        let by_4: i64 = lane_shuffle(up, sum, 4, 32)
        sum = select(l >= 4, sum + by_4, sum)
        let by_8: i64 = lane_shuffle(up, sum, 8, 32)
        sum = select(l >= 8, sum + by_8, sum)
        let by_16: i64 = lane_shuffle(up, sum, 16, 32)
        sum = select(l >= 16, sum + by_16, sum)
)";

constexpr const char* kTileSums = R"(
kernel NAME_tile_sums(BUFFER: TYPE*, NAME.sums: mut i64*; NAME.length: i64, NAME.tiles: i64) {
  block for b in [0, NAME.tiles) {
    part = alloc shared i64[8]
    warp for w in [0, 8) {
      lane for l in [0, 32) {
        var sum: i64 = 0
        for i in [b * 2048 + w * 32 + l, min(NAME.length, b * 2048 + 2048)) by 256 {
          sum = sum + i64(BUFFER[i])
        }
        let all: i64 = lane_reduce(add, sum, 32)
        if (l == 0) { part[w] = all }
      }
    }
    barrier(block)
    thread for t in [0, 8) {
      let all: i64 = lane_reduce(add, part[t], 8)
      if (t == 0) { NAME.sums[b] = all }
    }
  }
})";

// A single block that scans 1024 tiles at a time. `carry` is the sum of earlier tiles.
constexpr const char* kScanSums = R"(
kernel NAME_scan_sums(NAME.sums: mut i64*, BUFFER: mut TYPE*; NAME.length: i64, NAME.tiles: i64) {
  block for b in [0, 1) {
    part = alloc shared i64[32]
    total = alloc shared i64[1]
    var carry: i64 = 0
    for first in [0, NAME.tiles) by 1024 {
      var before: i64 = 0
      warp for w in [0, 32) {
        lane for l in [0, 32) {
          let at: i64 = first + w * 32 + l
          let own: i64 = NAME.sums[at if at < NAME.tiles]
          SCAN_LANES
          before = sum - own
          if (l == 31) { part[w] = sum }
        }
      }
      barrier(block)
      warp for w in [0, 1) {
        lane for l in [0, 32) {
          let own: i64 = part[l]
          SCAN_LANES
          part[l] = sum - own
          if (l == 31) { total[0] = sum }
        }
      }
      barrier(block)
      warp for w in [0, 32) {
        lane for l in [0, 32) {
          let at: i64 = first + w * 32 + l
          NAME.sums[at if at < NAME.tiles] = carry + part[w] + before
        }
      }
      carry = carry + total[0]
      barrier(block)
    }
    thread for t in [0, 1) { BUFFER[NAME.length] = TOTAL }
  }
})";

constexpr const char* kScanTiles = R"(
kernel NAME_scan_tiles(NAME.sums: i64*, BUFFER: mut TYPE*; NAME.length: i64, NAME.tiles: i64) {
  block for b in [0, NAME.tiles) {
    part = alloc shared i64[8]
    warp for w in [0, 8) {
      let begin: i64 = b * 2048 + w * 256
      lane for l in [0, 32) {
        var sum: i64 = 0
        for i in [begin + l, min(NAME.length, begin + 256)) by 32 {
          sum = sum + i64(BUFFER[i])
        }
        let all: i64 = lane_reduce(add, sum, 32)
        if (l == 0) { part[w] = all }
      }
    }
    barrier(block)
    warp for w in [0, 8) {
      let begin: i64 = b * 2048 + w * 256
      lane for l in [0, 32) {
        var carry: i64 = NAME.sums[b]
        for v in [0, w) { carry = carry + part[v] }
        for first in [begin, min(NAME.length, begin + 256)) by 32 {
          let i: i64 = first + l
          let own: i64 = i64(BUFFER[i if i < NAME.length])
          SCAN_LANES
          BUFFER[i if i < NAME.length] = TYPE(carry + sum - own)
          carry = carry + lane_shuffle(index, sum, 31, 32)
        }
      }
    }
  }
})";

Kernel kernel_of(const char* text, const Buffer& buffer, const std::string& name) {
  const bool narrow = buffer->element == DType::Int32;
  Substitutions words{{"SCAN_LANES", kScanLanes},
                      {"NAME", name},
                      {"TOTAL", narrow ? "i32(select(carry > 2147483647, -1, carry))" : "carry"},
                      {"TYPE", std::string(name_of(buffer->element))},
                      {"BUFFER", buffer->name}};
  if (mutant("scan-drops-last-tile")) {
    words.insert(words.begin(), {"NAME.tiles)", "NAME.length / 2048)"});
  }
  return kernel_of_text(text, words);
}

}  // namespace

ScanKernels::ScanKernels(const Buffer& buffer, const Expr& length, const std::string& name,
                         HostProgram& program)
    : program_(program), sums_(make_buffer(name + ".sums", DType::Int64)) {
  const Expr tiles = ceil_divide(Var::make(name + ".length"), kTile);
  program.steps.emplace_back(LetStep{name + ".length", length});
  program.steps.emplace_back(LetStep{name + ".tiles", tiles});
  program.steps.emplace_back(AllocateStep{sums_, Var::make(name + ".tiles")});
  for (const char* text : {kTileSums, kScanSums, kScanTiles}) {
    program.kernels.push_back(kernel_of(text, buffer, name));
    kernels_.push_back(program.kernels.back().name);
  }
}

void ScanKernels::launch() {
  for (const std::string& kernel : kernels_) program_.steps.emplace_back(LaunchStep{kernel});
}

void ScanKernels::end() { program_.steps.emplace_back(FreeStep{sums_}); }

}  // namespace tulle::passes
