// Random programs.
#include "differential/random_case.h"

#include <algorithm>
#include <map>

#include "differential/prepared.h"
#include "schedule/schedule.h"
#include "support/check.h"
#include "support/joined.h"

namespace tulle::differential {

namespace {

using Indices = std::vector<std::string>;

// size of the iteration space, because the reference visits all of it
constexpr int64_t kMostPoints = 12000;

// A piece of text and its free indices.
struct Piece {
  std::string text;
  Indices free;
};

void unite(Indices& into, const Indices& more) {
  for (const std::string& index : more) {
    if (std::find(into.begin(), into.end(), index) == into.end()) into.push_back(index);
  }
}

std::string access(const std::string& name, const Indices& indices) {
  return indices.empty() ? name : concat(name, "[", joined(indices, ","), "]");
}

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : dice_(seed),
        others_(~seed),
        halves_(~seed + 1),
        merged_(~seed + 2),
        blocks_(~seed + 6),
        bodies_(~seed + 7) {
    test_.seed = static_cast<unsigned>(seed);
    type_ = narrowed(dice_.pick<DType>({DType::Float32, DType::Float32, DType::Float32,
                                        DType::Float32, DType::Float64, DType::Float64,
                                        DType::Int64, DType::Int32, DType::Bool}));
    mixed_ = dice_.chance(0.15);
    index_type_ = dice_.chance(0.6) ? DType::Int32 : DType::Int64;
    choose_extents();
  }

  Case run() {
    const size_t statements = dice_.chance(0.75) ? 1 : 2 + dice_.below(2);
    size_t left = 1 + dice_.below(4);
    for (size_t s = 0; s < statements; ++s) {
      const size_t here = s + 1 == statements ? left : std::min(left, 1 + dice_.below(2));
      left = std::max<size_t>(1, left - here);
      add_statement(here);
    }
    test_.threads = static_cast<int>(dice_.between(1, 3));
    test_.small_chunks = dice_.chance(0.8);
    if (dice_.chance(0.3)) test_.features = dice_.pick<std::string>({"sse4.2", "avx2"});
    test_.gpu = dice_.chance(0.3);
    if (test_.gpu) test_.threads *= 3;
    if (test_.gpu && dice_.chance(0.45)) multiply_rows(dice_, type_, index_type_, test_);
    if (dice_.chance(test_.gpu ? 0.7 : 0.4)) test_.schedule = random_schedule(dice_, test_);
    if (dice_.chance(0.12)) take_apart();
    if (others_.chance(0.02)) apply_to_sums(others_, type_, index_type_, test_);
    if (others_.chance(0.06)) reduce_sums(others_, index_type_, test_);
    if (merged_.chance(0.03)) cut_rows(merged_, type_, index_type_, test_);
    if (blocks_.chance(0.05)) share_blocks(blocks_, type_, index_type_, test_);
    test_.one_body = bodies_.chance(0.25);
    test_.light = test_.gpu && merged_.chance(0.25);
    return test_;
  }

 private:
  void choose_extents() {
    const size_t count = 2 + dice_.below(4);
    const Indices names = {"i", "j", "k", "l", "m"};
    int64_t points = 1;
    for (size_t n = 0; n < count; ++n) {
      int64_t extent = dice_.between(2, dice_.chance(0.2) ? 20 : 8);
      if (dice_.chance(0.08)) extent = 1;
      if (dice_.chance(0.03)) extent = 0;
      if (points * extent > kMostPoints) extent = 2;
      points *= std::max<int64_t>(1, extent);
      extents_.push_back({names[n], extent});
    }
  }

  // Sometimes f16 or bf16 in place of f32.
  DType narrowed(DType type) {
    if (type != DType::Float32 || !halves_.chance(0.25)) return type;
    return halves_.chance(0.5) ? DType::Float16 : DType::BFloat16;
  }

  Indices some_indices(size_t rank) {
    Indices names;
    for (const auto& [name, extent] : extents_) names.push_back(name);
    dice_.shuffle(names);
    while (names.size() > rank) names.pop_back();
    if (names.size() >= 2 && dice_.chance(0.06)) names[0] = names[1];
    return names;
  }

  int64_t extent_of(const std::string& index) const {
    return std::find_if(extents_.begin(), extents_.end(),
                        [&](const auto& entry) { return entry.first == index; })
        ->second;
  }

  Piece new_operand() {
    const size_t rank = dice_.pick<size_t>({0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4});
    const Indices indices = some_indices(rank);
    Operand operand;
    operand.name = concat(static_cast<char>('A' + test_.operands.size()));
    operand.format = indices.size() >= 2 && dice_.chance(0.12)
                         ? random_composite(dice_, static_cast<int>(indices.size()))
                         : random_format(dice_, static_cast<int>(indices.size()), false);
    for (const std::string& index : indices) operand.sizes.push_back(extent_of(index));
    operand.density = dice_.pick<double>({0.1, 0.3, 0.3, 0.5, 0.9, 0});
    operand.type = mixed_ ? narrowed(dice_.pick<DType>({DType::Float32, DType::Float64,
                                                        DType::Int32, DType::Int64, DType::Bool}))
                          : type_;
    operand.index_type = index_type_;
    if (dice_.chance(0.1)) operand.index_type = dice_.chance(0.5) ? DType::Int32 : DType::Int64;
    operand.explicit_zeros = dice_.chance(0.15);
    if (dice_.chance(0.15))
      operand.spread = dice_.chance(0.5) ? Spread::EmptyRows : Spread::OneEntry;
    test_.operands.push_back(operand);
    used_.push_back({operand.name, indices});
    return {access(operand.name, renamed(indices)), distinct(indices)};
  }

  // An operand or an earlier result, usually an unused one. May be the same one with other indices
  // if the sizes agree.
  Piece leaf() {
    if (!used_.empty() && dice_.chance(0.12)) {
      const auto& [name, indices] = dice_.pick(used_);
      Indices other = indices;
      for (std::string& index : other) {
        for (const auto& [candidate, extent] : extents_) {
          if (extent == extent_of(index) && dice_.chance(0.5)) index = candidate;
        }
      }
      return {access(name, renamed(other)), distinct(other)};
    }
    if (!pending_.empty() && dice_.chance(0.7)) {
      const auto [name, indices] = pending_.back();
      pending_.pop_back();
      return {access(name, renamed(indices)), distinct(indices)};
    }
    return new_operand();
  }

  static Indices distinct(const Indices& indices) {
    Indices found;
    unite(found, indices);
    return found;
  }

  Piece expression(size_t leaves) {
    Piece piece;
    if (leaves <= 1) {
      piece = leaf();
      if (dice_.chance(0.1)) piece.text = concat(number(), " * ", piece.text);
      // Only for exact values: rounding may move a value to either side of a whole number.
      if (dice_.chance(0.03)) piece.text = concat("floor(", piece.text, ")");
    } else {
      const size_t left = 1 + dice_.below(leaves - 1);
      piece = expression(left);
      const Piece right = expression(leaves - left);
      const std::string op = dice_.pick<std::string>({"*", "*", "*", "*", "+", "+", "-", "-", "/"});
      const std::string call = dice_.pick<std::string>({"max", "min", "within"});
      piece.text = dice_.chance(0.07) ? concat(call, "(", piece.text, ", ", right.text, ")")
                                      : concat("(", piece.text, " ", op, " ", right.text, ")");
      unite(piece.free, right.free);
      if (dice_.chance(0.02)) piece.text = concat("(", piece.text, " + ", number(), ")");
    }
    if (dice_.chance(0.1) && !piece.free.empty()) reduce(piece);
    if (others_.chance(0.02) && !piece.free.empty() && is_float(type_) && !mixed_) {
      piece.text =
          concat("softmax(", renamed({others_.pick(piece.free)})[0], " stored, ", piece.text, ")");
    }
    if (dice_.chance(0.1)) {
      piece.text =
          concat(dice_.pick<std::string>({"neg", "abs", "relu", "square", "sign", "sin", "tanh"}),
                 "(", piece.text, ")");
    }
    return piece;
  }

  // A reduction over one of the indices, over all coordinates or those with a value.
  void reduce(Piece& piece) {
    const size_t at = dice_.below(piece.free.size());
    std::string op = dice_.pick<std::string>({"sum", "sum", "max", "min", "prod", "mean"});
    if (others_.chance(0.15) && is_float(type_) && !mixed_) op = "logsumexp";
    const std::string stored = op != "sum" && dice_.chance(0.5) ? " stored" : "";
    const std::string empty = !stored.empty() && dice_.chance(0.4) ? ", empty=0" : "";
    piece.text =
        concat(op, "(", renamed({piece.free[at]})[0], stored, ", ", piece.text, empty, ")");
    piece.free.erase(piece.free.begin() + static_cast<std::ptrdiff_t>(at));
  }

  std::string number() { return dice_.pick<std::string>({"2", "3", "0.5", "2.5"}); }

  // The names of the indices in this statement.
  Indices renamed(Indices indices) const {
    for (std::string& index : indices) index = names_.at(index);
    return indices;
  }

  void choose_names() {
    Indices names;
    for (const auto& [name, extent] : extents_) names.push_back(name);
    if (dice_.chance(0.3)) dice_.shuffle(names);
    for (size_t n = 0; n < names.size(); ++n) names_[extents_[n].first] = names[n];
  }

  void add_statement(size_t leaves) {
    choose_names();
    const Piece value = expression(leaves);
    Indices left = value.free;
    dice_.shuffle(left);
    const size_t most = std::min<size_t>(left.size(), 4);
    const size_t rank = dice_.chance(0.3) ? most : dice_.below(most + 1);
    left.resize(rank);
    const std::string name = concat("R", statements_++);
    test_.text +=
        concat(test_.text.empty() ? "" : "\n", access(name, renamed(left)), " = ", value.text);
    if (dice_.chance(0.3)) test_.out_formats[name] = result_format(rank);
    pending_.push_back({name, left});
  }

  // Steps that decompose one or two matrices.
  std::vector<std::string> decompositions() {
    std::vector<std::string> steps;
    for (const Operand& operand : test_.operands) {
      const int rank = static_cast<int>(operand.sizes.size());
      const bool fits =
          rank >= 2 && !is_composite(operand) && !Format::parse(operand.format, rank).is_dense();
      if (!fits || !dice_.chance(steps.empty() ? 0.7 : 0.2)) continue;
      steps.push_back(concat("decompose(", operand.name, ", ", random_composite(dice_, rank), ")"));
    }
    return steps;
  }

  // Adds decompose steps to the schedule, in any place between steps for the parts. If no sum over
  // these exists, the steps are illegal, and they usually stay out.
  void take_apart() {
    const std::string before = test_.schedule;
    std::vector<std::string> steps;
    bool taken = false;
    for (int tries = 0; tries < 4 && !taken; ++tries) {
      steps = decompositions();
      test_.schedule = joined(steps, "; ");
      taken = can_prepare(test_);
    }
    if (!taken && dice_.chance(0.8)) steps.clear();
    const bool whole = dice_.chance(0.2);  // keeps the steps for the whole operand
    const std::string of_parts = whole || steps.empty() ? before
                                 : dice_.chance(0.7)    ? random_schedule(dice_, test_)
                                                        : "";
    std::vector<std::string> all;
    for (const schedule::Step& step : schedule::parse_schedule(of_parts).steps)
      all.push_back(schedule::to_string(step));
    for (const std::string& step : steps)
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(dice_.below(all.size() + 1)), step);
    test_.schedule = joined(all, "; ");
  }

  // The format of an operand, or any format.
  std::string result_format(size_t rank) {
    const Operand& like = dice_.pick(test_.operands);
    if (like.sizes.size() == rank && !is_composite(like)) {
      const Format format = Format::parse(like.format, static_cast<int>(rank));
      if (format.is_ordered() && format.is_unique()) return like.format;
    }
    return random_format(dice_, static_cast<int>(rank), true);
  }

  Dice dice_;
  Dice others_;  // for rare choices
  Dice halves_;  // for types of 16 bits
  Dice merged_;  // for rows in chunks of equal work
  Dice blocks_;  // for results in blocks
  Dice bodies_;  // for one body for all points of a lattice
  Case test_;
  DType type_ = DType::Float32, index_type_ = DType::Int32;
  bool mixed_ = false;
  int statements_ = 0;
  std::vector<std::pair<std::string, int64_t>> extents_;
  std::map<std::string, std::string> names_;              // of the indices in this statement
  std::vector<std::pair<std::string, Indices>> used_;     // operands
  std::vector<std::pair<std::string, Indices>> pending_;  // results that nothing used yet
};

}  // namespace

Case random_case(uint64_t seed) { return Generator(seed).run(); }

}  // namespace tulle::differential
