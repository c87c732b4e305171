// Selecting entries: every selector looks at a few rows at a time, so that chunks of rows are
// independent of each other.
#include "runtime/select_parts.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <span>

#include "support/check.h"
#include "support/mutant.h"

namespace tulle::runtime {

namespace {

constexpr int32_t kNone = -1;
constexpr int64_t kEntriesPerChunk = 1 << 14;

// The entries [begin, end), whole windows of rows.
struct Chunk {
  int64_t begin = 0, end = 0;
};

// Where an entry is: `matrix` counts those of a batch within the chunk.
struct Entry {
  int64_t matrix = 0, row = 0, column = 0;
};

bool share_window(const Entry& a, const Entry& b, int64_t height, int64_t shift = 0) {
  return a.matrix == b.matrix &&
         (a.row == b.row || (a.row + shift) / height == (b.row + shift) / height);
}

int64_t coordinate(const SortedEntries& entries, size_t dimension, int64_t at) {
  return entries.coordinates[dimension].at(at, entries.index_type);
}

// Whether the entry and the one before it are in one matrix of the batch.
bool same_matrix(const SortedEntries& entries, int64_t at) {
  for (size_t d = 0; d + 2 < entries.coordinates.size(); ++d) {
    if (coordinate(entries, d, at) != coordinate(entries, d, at - 1)) return false;
  }
  return true;
}

std::vector<Entry> read(const SortedEntries& entries, const Chunk& chunk) {
  const size_t rank = entries.coordinates.size();
  std::vector<Entry> found;
  found.reserve(static_cast<size_t>(chunk.end - chunk.begin));
  for (int64_t at = chunk.begin; at < chunk.end; ++at) {
    const bool next = at > chunk.begin && !same_matrix(entries, at);
    found.push_back({found.empty() ? 0 : found.back().matrix + (next ? 1 : 0),
                     coordinate(entries, rank - 2, at), coordinate(entries, rank - 1, at)});
  }
  return found;
}

using Parts = std::span<const CompositeFormat::Part>;

// Gives the entries of one chunk out to parts.
class Selection {
 public:
  Selection(std::vector<Entry> entries, int32_t* part_of)
      : entries_(std::move(entries)), part_of_(part_of), left_(entries_.size()) {
    std::iota(left_.begin(), left_.end(), size_t{0});
    std::fill_n(part_of_, entries_.size(), kNone);
  }

  // Parts that stand next to each other, of the same column ranges, the first of which has this
  // number. What is left is dealt to the ranges once: each part looks at the entries of its own.
  void select(int32_t first, Parts parts, int64_t columns) {
    const int64_t ranges = parts.front().ranges;
    const int64_t width = column_range(columns, 0, ranges).end;
    const int64_t last = mutant("select-range-too-early") && ranges > 1 ? ranges - 2 : ranges - 1;
    std::vector<std::vector<size_t>> left(static_cast<size_t>(ranges));
    for (const size_t at : left_) {
      const int64_t column = entry(at).column;
      if (column < 0 || column >= columns) continue;  // outside of all ranges
      left[static_cast<size_t>(std::min(column / width, last))].push_back(at);
    }
    for (size_t p = 0; p < parts.size(); ++p) {
      select(first + static_cast<int32_t>(p), parts[p].selector,
             left[static_cast<size_t>(parts[p].range)]);
    }
    std::erase_if(left_, [&](size_t at) { return part_of_[at] != kNone; });
  }

 private:
  const Entry& entry(size_t at) const { return entries_[at]; }

  // Takes what the selector takes out of `left`.
  void select(int32_t part, const Selector& selector, std::vector<size_t>& left) {
    const int64_t shift = mutant("select-window-shifted") ? 1 : 0;
    std::vector<size_t> window;
    for (size_t begin = 0; begin < left.size();) {
      window.clear();
      size_t end = begin;
      for (; end < left.size() &&
             share_window(entry(left[begin]), entry(left[end]), selector.height(), shift);
           ++end) {
        window.push_back(left[end]);
      }
      begin = end;
      keep_selected(selector, window);
      for (const size_t at : window) part_of_[at] = part;
    }
    std::erase_if(left, [&](size_t at) { return part_of_[at] != kNone; });
  }

  // Leaves of a window's entries those that the selector takes.
  void keep_selected(const Selector& selector, std::vector<size_t>& window) const {
    const auto count = static_cast<int64_t>(window.size());
    switch (selector.kind) {
      case Selector::Kind::Rows:
        if (selector.at_least && !mutant("select-least-as-most") ? count < selector.first
                                                                 : count > selector.first)
          window.clear();
        break;
      case Selector::Kind::Columns:
        std::erase_if(window, [&](size_t at) {
          return entry(at).column < selector.first || entry(at).column >= selector.second;
        });
        break;
      case Selector::Kind::Band: {
        const int64_t last = selector.second + (mutant("select-band-too-wide") ? 1 : 0);
        std::erase_if(window, [&](size_t at) {
          const int64_t diagonal = entry(at).column - entry(at).row;
          return diagonal < selector.first || diagonal > last;
        });
        break;
      }
      case Selector::Kind::Blocks:
        keep_blocks(selector, window);
        break;
      case Selector::Kind::Windows:
        if (static_cast<double>(count) <
            selector.threshold * static_cast<double>(distinct_columns(window)))
          window.clear();
        break;
      case Selector::Kind::Rest:
        break;
    }
  }

  void keep_blocks(const Selector& selector, std::vector<size_t>& window) const {
    const int64_t width = selector.second * (mutant("select-block-with-next") ? 2 : 1);
    auto block = [&](size_t at) { return entry(at).column / width; };
    std::sort(window.begin(), window.end(),
              [&](size_t a, size_t b) { return block(a) < block(b); });
    const double least = selector.threshold * static_cast<double>(selector.first) *
                         static_cast<double>(selector.second);
    size_t kept = 0;
    for (size_t begin = 0; begin < window.size();) {
      size_t end = begin + 1;
      while (end < window.size() && block(window[end]) == block(window[begin])) ++end;
      if (static_cast<double>(end - begin) >= least) {
        for (size_t e = begin; e < end; ++e) window[kept++] = window[e];
      }
      begin = end;
    }
    window.resize(kept);
  }

  int64_t distinct_columns(const std::vector<size_t>& window) const {
    std::vector<int64_t> columns;
    columns.reserve(window.size());
    for (const size_t at : window) columns.push_back(entry(at).column);
    std::sort(columns.begin(), columns.end());
    return std::unique(columns.begin(), columns.end()) - columns.begin();
  }

  std::vector<Entry> entries_;
  int32_t* part_of_;
  std::vector<size_t> left_;  // entries that no part has, in their order
};

// The first parts of these that are of the same column ranges.
Parts with_ranges_of(Parts parts) {
  const auto other = std::find_if(parts.begin(), parts.end(), [&](const auto& part) {
    return part.ranges != parts.front().ranges;
  });
  return parts.first(static_cast<size_t>(other - parts.begin()));
}

// How many rows a chunk takes at a time, so that no window of any selector is cut.
int64_t common_height(const CompositeFormat& format, int64_t rows) {
  int64_t height = 1;
  for (const CompositeFormat::Part& part : format.parts()) {
    const int64_t one = part.selector.height() / std::gcd(height, part.selector.height());
    if (__builtin_mul_overflow(height, one, &height) || height > rows) return rows + 1;
  }
  return height;
}

// Chunks of about equal numbers of entries that begin where windows do.
std::vector<Chunk> cut(const CompositeFormat& format, const SortedEntries& entries) {
  const size_t row = entries.coordinates.size() - 2;
  const int64_t height = common_height(format, entries.sizes[row]);
  auto begins_window = [&](int64_t at) {
    return coordinate(entries, row, at) / height != coordinate(entries, row, at - 1) / height ||
           !same_matrix(entries, at);
  };
  std::vector<Chunk> chunks;
  int64_t begin = 0;
  while (begin < entries.count) {
    int64_t end = std::min(entries.count, begin + kEntriesPerChunk);
    while (end < entries.count && !begins_window(end)) ++end;
    chunks.push_back({begin, end});
    begin = end;
  }
  return chunks;
}

void lower_to(std::atomic<int64_t>& least, int64_t value) {
  int64_t seen = least;
  while (value < seen && !least.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace

void fail_uncovered(const std::vector<int64_t>& coordinates) {
  std::string text;
  for (const int64_t coordinate : coordinates) text += concat(text.empty() ? "" : ", ", coordinate);
  user_error("No part of the composite format takes the entry at (", text,
             "); let the last part be 'rest: csr'.");
}

void select_parts(const CompositeFormat& format, const SortedEntries& entries,
                  Parallelism& parallelism, int64_t* order, int64_t* counts) {
  const auto& parts = format.parts();
  const std::vector<Chunk> chunks = cut(format, entries);
  std::vector<int32_t> part_of(static_cast<size_t>(entries.count));
  // Of each chunk how many entries each part has, then where they go.
  std::vector<std::vector<int64_t>> places(chunks.size(), std::vector<int64_t>(parts.size(), 0));
  std::atomic<int64_t> uncovered{entries.count};
  parallel_for(parallelism, static_cast<int>(chunks.size()), [&](int index) {
    const Chunk& chunk = chunks[static_cast<size_t>(index)];
    Selection selection(read(entries, chunk), &part_of[static_cast<size_t>(chunk.begin)]);
    for (size_t first = 0; first < parts.size();) {
      const Parts group = with_ranges_of(Parts(parts).subspan(first));
      selection.select(static_cast<int32_t>(first), group, entries.sizes.back());
      first += group.size();
    }
    for (int64_t at = chunk.begin; at < chunk.end; ++at) {
      const int32_t part = part_of[static_cast<size_t>(at)];
      if (part == kNone) {
        lower_to(uncovered, at);
      } else {
        ++places[static_cast<size_t>(index)][static_cast<size_t>(part)];
      }
    }
  });
  if (uncovered < entries.count) {
    std::vector<int64_t> at;
    for (size_t d = 0; d < entries.coordinates.size(); ++d)
      at.push_back(coordinate(entries, d, uncovered));
    fail_uncovered(at);
  }
  int64_t next = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    const int64_t first = next;
    for (std::vector<int64_t>& of_chunk : places) {
      const int64_t count = of_chunk[part];
      of_chunk[part] = next;
      next += count;
    }
    counts[part] = next - first;
  }
  TULLE_CHECK(next == entries.count, "entries given out to parts");
  parallel_for(parallelism, static_cast<int>(chunks.size()), [&](int index) {
    const Chunk& chunk = chunks[static_cast<size_t>(index)];
    std::vector<int64_t>& next_of = places[static_cast<size_t>(index)];
    for (int64_t at = chunk.begin; at < chunk.end; ++at) {
      order[next_of[static_cast<size_t>(part_of[static_cast<size_t>(at)])]++] = at;
    }
  });
}

}  // namespace tulle::runtime
