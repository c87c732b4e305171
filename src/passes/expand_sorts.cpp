// A stable radix sort of a permutation by each key. The permutation occupies one half of a buffer
// of twice its length; each radix pass moves it to the other half. The state that changes between
// radix passes is on the device, so that all passes of a key launch the same kernels: state[0] is
// the current half, state[1] the lowest bit of the digit, state[2] the largest key, and state[3]
// the smallest key if there are negative keys, in which case keys are sorted by their distance from
// it.
#include "passes/expand_sorts.h"

#include <map>

#include "passes/kernel_text.h"
#include "passes/scan_kernels.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int64_t kTile = 2048;  // 8 warps, 8 times 32 elements each
constexpr int kBits = 8;         // per radix pass

constexpr const char* kBegin = R"(
kernel NAME_begin(NAME.order: mut i64*, NAME.state: mut i64*; NAME.length: i64) {
  block for b in [0, (NAME.length + 255) / 256 + 1) {
    thread for t in [0, 256) {
      let i: i64 = b * 256 + t
      if (i < NAME.length) { NAME.order[i] = i }
      if (i == 0) { NAME.state[0] = 0 }
    }
  }
})";

// Computes the largest and smallest key before the first radix pass of a key.
constexpr const char* kReset = R"(
kernel NAME_KEY_reset(NAME.state: mut i64*) {
  NAME.state[1] = 0
  NAME.state[2] = 0
  NAME.state[3] = 0
})";

constexpr const char* kLargest = R"(
kernel NAME_KEY_largest(BUFFER: TYPE*, NAME.state: mut i64*; NAME.length: i64, NAME.tiles: i64) {
  block for b in [0, NAME.tiles) {
    warp for w in [0, 8) {
      lane for l in [0, 32) {
        var largest: i64 = 0
        var smallest: i64 = 0
        for i in [b * 2048 + w * 32 + l, min(NAME.length, b * 2048 + 2048)) by 256 {
          largest = max(largest, i64(BUFFER[i]))
          smallest = min(smallest, i64(BUFFER[i]))
        }
        let most: i64 = lane_reduce(max, largest, 32)
        let least: i64 = lane_reduce(min, smallest, 32)
        if (l == 0) {
          atomic_max(NAME.state[2], most)
          atomic_min(NAME.state[3], least)
        }
      }
    }
  }
})";

// Counts the occurrences of each digit in each tile, ordered by digit.
constexpr const char* kCount = R"(
kernel NAME_KEY_count(BUFFER: TYPE*, NAME.order: i64*, NAME.state: i64*, NAME.counts: mut i64*; NAME.length: i64, NAME.tiles: i64) {
  block for b in [0, NAME.tiles) {
    found = alloc zeroed shared i32[256]
    let half: i64 = NAME.state[0] * NAME.length
    let shift: i64 = NAME.state[1]
    let least: i64 = NAME.state[3]
    thread for t in [0, 256) {
      for i in [b * 2048 + t, min(NAME.length, b * 2048 + 2048)) by 256 {
        let digit: i64 = i64(BUFFER[NAME.order[half + i]]) - least >> shift & 255
        atomic_add(found[digit], 1:i32)
      }
    }
    barrier(block)
    thread for t in [0, 256) { NAME.counts[t * NAME.tiles + b] = i64(found[t]) }
  }
})";

// Each warp processes 256 elements of the tile in order; `next` is the target of its next element
// with each digit. A radix pass above the largest key moves nothing.
constexpr const char* kMove = R"(
kernel NAME_KEY_move(BUFFER: TYPE*, NAME.order: mut i64*, NAME.state: i64*, NAME.counts: i64*; NAME.length: i64, NAME.tiles: i64) {
  block for b in [0, NAME.tiles) {
    next = alloc zeroed shared i64[2048]
    let half: i64 = NAME.state[0] * NAME.length
    let shift: i64 = NAME.state[1]
    let least: i64 = NAME.state[3]
    let other: i64 = NAME.length - half
    if (NAME.state[2] - least >> shift > 0) {
      warp for w in [0, 8) {
        let begin: i64 = b * 2048 + w * 256
        lane for l in [0, 32) {
          for i in [begin + l, min(NAME.length, begin + 256)) by 32 {
            let digit: i64 = i64(BUFFER[NAME.order[half + i]]) - least >> shift & 255
            atomic_add(next[w * 256 + digit], 1)
          }
        }
      }
      barrier(block)
      thread for t in [0, 256) {
        var before: i64 = NAME.counts[t * NAME.tiles + b]
        for w in [0, 8) {
          let own: i64 = next[w * 256 + t]
          next[w * 256 + t] = before
          before = before + own
        }
      }
      barrier(block)
      warp for w in [0, 8) {
        let begin: i64 = b * 2048 + w * 256
        lane for l in [0, 32) {
          for first in [begin, min(NAME.length, begin + 256)) by 32 {
            let i: i64 = first + l
            let is_there: bool = i < NAME.length
            let entry: i64 = NAME.order[half + i if is_there]
            let key: i64 = i64(BUFFER[entry if is_there]) - least
            let digit: i64 = select(is_there, key >> shift & 255, 256)
            var rank: i64 = 0
            var alike: i64 = 0
            for q in [0, 32) {
              let same: bool = lane_shuffle(index, digit, q, 32) == digit
              alike = alike + i64(same)
              rank = rank + i64(same && q < l)
            }
            let to: i64 = next[w * 256 + digit if is_there] + rank
            barrier(warp)
            if (is_there && rank == alike - 1) { next[w * 256 + digit] = to + 1 }
            barrier(warp)
            NAME.order[other + to if is_there] = entry
          }
        }
      }
    }
  }
})";

constexpr const char* kEndPass = R"(
kernel NAME_KEY_end(NAME.state: mut i64*) {
  if (NAME.state[2] - NAME.state[3] >> NAME.state[1] > 0) { NAME.state[0] = 1 - NAME.state[0] }
  NAME.state[1] = NAME.state[1] + 8
})";

constexpr const char* kHandOut = R"(
kernel NAME_hand_out(NAME.order: i64*, NAME.state: i64*, BUFFER: mut i64*; NAME.length: i64) {
  block for b in [0, (NAME.length + 255) / 256) {
    let half: i64 = NAME.state[0] * NAME.length
    thread for t in [0, 256) {
      let i: i64 = b * 256 + t
      if (i < NAME.length) { BUFFER[i] = NAME.order[half + i] }
    }
  }
})";

class SortExpansion {
 public:
  SortExpansion(const SortStep& step, std::string name, HostProgram& program)
      : step_(step),
        name_(std::move(name)),
        program_(program),
        state_(make_buffer(name_ + ".state", DType::Int64)),
        halves_(make_buffer(name_ + ".order", DType::Int64)),
        counts_(make_buffer(name_ + ".counts", DType::Int64)) {}

  void run() {
    const Expr length = Var::make(name_ + ".length"), tiles = Var::make(name_ + ".tiles");
    add(LetStep{name_ + ".length", step_.length});
    add(LetStep{name_ + ".tiles", ceil_divide(length, kTile)});
    add(AllocateStep{state_, IntConst::make(4)});
    add(AllocateStep{halves_, length * 2});
    add(AllocateStep{counts_, tiles * 256 + 1});
    ScanKernels scan(counts_, tiles * 256, "scan_" + name_, program_);
    launch(kBegin, "", step_.order);
    for (size_t k = step_.keys.size(); k-- > 0;) sort_by(step_.keys[k], concat("key", k), scan);
    launch(kHandOut, "", step_.order);
    scan.end();
    for (const Buffer& buffer : {state_, halves_, counts_}) add(FreeStep{buffer});
  }

 private:
  void sort_by(const Buffer& key, const std::string& key_name, ScanKernels& scan) {
    launch(kReset, key_name, key);
    launch(kLargest, key_name, key);
    const int passes = static_cast<int>(size_of(key->element)) * 8 / kBits;
    for (int pass = 0; pass < passes; ++pass) {
      launch(kCount, key_name, key);
      scan.launch();
      launch(kMove, key_name, key);
      launch(kEndPass, key_name, key);
    }
  }

  // Creates the kernel for its first launch.
  void launch(const char* text, const std::string& key_name, const Buffer& buffer) {
    std::string& name = made_[{text, key_name}];
    if (name.empty()) {
      program_.kernels.push_back(kernel_of(text, key_name, buffer));
      name = program_.kernels.back().name;
    }
    add(LaunchStep{name});
  }

  Kernel kernel_of(const char* text, const std::string& key_name, const Buffer& buffer) const {
    Substitutions words{{"NAME", name_},
                        {"KEY", key_name},
                        {"TYPE", std::string(name_of(buffer->element))},
                        {"BUFFER", buffer->name}};
    if (mutant("sort-unstable")) words.insert(words.begin(), {"q < l", "q > l"});
    return kernel_of_text(text, words);
  }

  void add(HostStep step) { program_.steps.push_back(std::move(step)); }

  const SortStep& step_;
  const std::string name_;
  HostProgram& program_;
  Buffer state_, halves_, counts_;
  std::map<std::pair<const char*, std::string>, std::string> made_;  // kernels, by text and key
};

}  // namespace

HostProgram expand_sorts(HostProgram program) {
  std::vector<HostStep> steps = std::move(program.steps);
  program.steps.clear();
  int count = 0;
  for (HostStep& step : steps) {
    if (const auto* sort = std::get_if<SortStep>(&step)) {
      SortExpansion(*sort, concat("sort", count++), program).run();
    } else {
      program.steps.push_back(std::move(step));
    }
  }
  return program;
}

}  // namespace tulle::passes
