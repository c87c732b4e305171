// The operations and cells of the matrix.
#include "differential/matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "format/composite.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

constexpr size_t kSample = 105;  // at least as many as the longest list of formats
constexpr std::array<DType, 5> kTypes = {DType::Float32, DType::Float64, DType::Int64,
                                         DType::Float16, DType::BFloat16};

// All different, so that mixing up dimensions is an error.
const std::map<std::string, int64_t>& extents() {
  static const std::map<std::string, int64_t> sizes = {{"i", 7}, {"j", 9}, {"k", 6},  {"l", 5},
                                                       {"b", 4}, {"d", 8}, {"r", 11}, {"m", 3}};
  return sizes;
}

// Every format of a tensor of that rank. For rank 3, in all dimension orders.
const std::vector<std::string>& formats(size_t rank) {
  static const std::vector<std::string> vector = {"dense", "coo", "csf", "(i) -> (i: bitmap)"};
  // Padded rows have the width of the largest extent, so that every operand fits.
  static const std::vector<std::string> matrix = {
      "dense", "coo", "csr", "csc", "dcsr", "dcsc", "csf", "bsr(2,3)", "bsc(3,2)", "dbsr(3,2)",
      "ell(11)", "dia", "ragged", "bitmap", "sr-bcrs(2,4)",
      // Composites: rows of several lengths, a band, blocks, columns, and windows with reuse.
      "hyb(2,1)", "dia-csr(-1,2)",
      "{ windows(2, reuse>=1.5): sr-bcrs(2,2); columns(1,4): coo; rest: csc }",
      // This one has two dimensions. The formats above work for any rank.
      "(i,j) -> (j,i){ blocks(2,2, fill>=0.5): bsr(2,2); rest: dcsr }"};
  static const std::vector<std::string> cube = [] {
    std::vector<std::string> found(matrix.begin(), matrix.end() - 1);
    std::array<std::string, 3> order = {"i", "j", "k"};
    do {
      const auto& [x, y, z] = order;
      auto add = [&](const char* a, const char* b, const char* c) {
        found.push_back(
            concat("(i,j,k) -> (", x, ": ", a, ", ", y, ": ", b, ", ", z, ": ", c, ")"));
      };
      add("compressed", "compressed", "compressed");
      add("dense", "compressed", "compressed");
      add("compressed nonunique", "singleton nonunique", "singleton");
    } while (std::next_permutation(order.begin(), order.end()));
    return found;
  }();
  static const std::vector<std::string> four = {
      "dense",
      "coo",
      "csf",
      "csr",
      "(i,j,k,l) -> (l: compressed, k: compressed, j: compressed, i: compressed)",
      "(i,j,k,l) -> (j: dense, i: compressed, l: compressed, k: compressed)",
      "(i,j,k,l) -> (l: compressed, k: dense, i: dense, j: padded(11))",
      "dia",
      "hyb(1,1)",
      "(i,j,k,l) -> (i: dense, k: compressed, j: compressed, l: ragged)",
      "(i,j,k,l) -> (k: compressed, j: dense, i: bitmap, l: dense)",
      ("(i,j,k,l) -> (k: compressed nonunique, l: singleton nonunique, i: singleton nonunique, j: "
       "singleton)")};
  static const std::vector<std::string> scalar = {"dense"};
  switch (rank) {
    case 0:
      return scalar;
    case 1:
      return vector;
    case 2:
      return matrix;
    case 3:
      return cube;
    default:
      return four;
  }
}

struct Parsed {
  std::string name;
  std::vector<std::string> indices;
};

Parsed parse_access(const std::string& text) {
  const size_t open = text.find('[');
  Parsed parsed{text.substr(0, open), {}};
  for (size_t at = open + 1; at < text.size(); at += 2)
    parsed.indices.push_back(text.substr(at, 1));
  return parsed;
}

// The positions in the operands' lists of formats, one row per combination. Covers all pairs of
// formats for any two operands.
std::vector<std::vector<size_t>> combinations(const std::vector<size_t>& counts) {
  std::vector<std::vector<size_t>> rows;
  const size_t first = counts[0], second = counts.size() > 1 ? counts[1] : 1;
  // Enough rounds for all pairs of a third operand with the first and second.
  size_t rounds = 1;
  for (size_t o = 2; o < counts.size(); ++o) {
    const size_t least = std::min(first, second);
    rounds = std::max(rounds, (counts[o] + least - 1) / least);
  }
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t a = 0; a < first; ++a) {
      for (size_t b = 0; b < second; ++b) {
        std::vector<size_t> row = {a, b};
        row.resize(counts.size());
        for (size_t o = 2; o < counts.size(); ++o)
          row[o] = (a + (o - 1) * b + round * std::min(first, second)) % counts[o];
        rows.push_back(row);
      }
    }
  }
  return rows;
}

// About kSample of the rows, with each format of each operand.
std::vector<std::vector<size_t>> sample(std::vector<std::vector<size_t>> rows) {
  std::mt19937 random(1);
  std::shuffle(rows.begin(), rows.end(), random);
  std::set<std::pair<size_t, size_t>> seen;  // operand and format
  auto brings_something = [&](const std::vector<size_t>& row) {
    bool is_new = false;
    for (size_t o = 0; o < row.size(); ++o) is_new = seen.emplace(o, row[o]).second || is_new;
    return is_new;
  };
  std::stable_partition(rows.begin(), rows.end(), brings_something);
  if (rows.size() > kSample) rows.resize(kSample);
  return rows;
}

// The properties of a cell beside its operation and formats.
struct Setting {
  Condition condition;
  size_t type;
  size_t number;  // determines the seed, the threads and the index type
  size_t shrunk;  // the index whose extent a condition on sizes changes
  bool light;     // whether to compile light code
};

Case make_cell(const Operation& operation, const std::vector<Parsed>& operands,
               const std::vector<size_t>& row, const Setting& setting) {
  const auto [condition, type, number, shrunk, light] = setting;
  std::map<std::string, int64_t> sizes = extents();
  std::vector<std::string> used;
  for (const Parsed& operand : operands) {
    for (const std::string& index : operand.indices) {
      if (std::find(used.begin(), used.end(), index) == used.end()) used.push_back(index);
    }
  }
  if (condition == Condition::SizeOne) sizes[used[shrunk % used.size()]] = 1;
  if (condition == Condition::SizeZero) sizes[used[shrunk % used.size()]] = 0;
  Case test;
  test.text = operation.text;
  test.light = light;
  test.seed = static_cast<unsigned>(number);
  test.threads = static_cast<int>(1 + number % 3);
  const DType index_type = number % 2 == 0 ? DType::Int32 : DType::Int64;
  for (size_t o = 0; o < operands.size(); ++o) {
    Operand operand;
    operand.name = operands[o].name;
    operand.format = formats(operands[o].indices.size())[row[o]];
    operand.type = kTypes[type];
    operand.index_type = index_type;
    for (const std::string& index : operands[o].indices) operand.sizes.push_back(sizes.at(index));
    if (condition == Condition::NoEntries) operand.density = 0;
    operand.explicit_zeros = condition == Condition::ExplicitZeros;
    if (condition == Condition::EmptyRows) operand.spread = Spread::EmptyRows;
    if (condition == Condition::OneEntry) operand.spread = Spread::OneEntry;
    test.operands.push_back(operand);
  }
  return test;
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"spmv", "y[i] = A[i,j] * x[j]", {"A[i,j]", "x[j]"}},
      {"spmm", "C[i,k] = A[i,j] * B[j,k]", {"A[i,j]", "B[j,k]"}},
      {"spmm_transposed", "C[i,k] = A[j,i] * B[k,j]", {"A[j,i]", "B[k,j]"}},
      {"sddmm", "S[i,j] = A[i,j] * Q[i,d] * K[j,d]", {"A[i,j]", "Q[i,d]", "K[j,d]"}},
      {"add", "C[i,j] = A[i,j] + B[i,j]", {"A[i,j]", "B[i,j]"}},
      {"subtract", "C[i,j] = A[i,j] - B[i,j]", {"A[i,j]", "B[i,j]"}},
      {"multiply", "C[i,j] = A[i,j] * B[i,j]", {"A[i,j]", "B[i,j]"}},
      {"add_multiply", "D[i,j] = (A[i,j] + B[i,j]) * C[i,j]", {"A[i,j]", "B[i,j]", "C[i,j]"}},
      {"multiply_add", "D[i,j] = A[i,j] * B[i,j] + C[i,j]", {"A[i,j]", "B[i,j]", "C[i,j]"}},
      {"row_sum", "y[i] = sum(j, A[i,j])", {"A[i,j]"}},
      {"column_sum", "y[j] = sum(i, A[i,j])", {"A[i,j]"}},
      {"full_sum", "s = sum((i,j), A[i,j])", {"A[i,j]"}},
      {"row_scaling", "C[i,j] = A[i,j] * x[i]", {"A[i,j]", "x[i]"}},
      {"outer_product", "C[i,j] = x[i] * y[j]", {"x[i]", "y[j]"}},
      {"diagonal", "d[i] = A[i,i]", {"A[i,i]"}},
      {"trace", "t = A[i,i]", {"A[i,i]"}},
      {"gram", "C[i,j] = A[k,i] * A[k,j]", {"A[k,i]"}},
      {"chain", "D[i,l] = A[i,j] * B[j,k] * C[k,l]", {"A[i,j]", "B[j,k]", "C[k,l]"}},
      {"batched_matmul", "C[b,i,k] = A[b,i,j] * B[b,j,k]", {"A[b,i,j]", "B[b,j,k]"}},
      {"ttv_0", "C[j,k] = T[i,j,k] * x[i]", {"T[i,j,k]", "x[i]"}},
      {"ttv_1", "C[i,k] = T[i,j,k] * x[j]", {"T[i,j,k]", "x[j]"}},
      {"ttv_2", "C[i,j] = T[i,j,k] * x[k]", {"T[i,j,k]", "x[k]"}},
      {"ttm_0", "C[r,j,k] = T[i,j,k] * M[i,r]", {"T[i,j,k]", "M[i,r]"}},
      {"ttm_1", "C[i,r,k] = T[i,j,k] * M[j,r]", {"T[i,j,k]", "M[j,r]"}},
      {"ttm_2", "C[i,j,r] = T[i,j,k] * M[k,r]", {"T[i,j,k]", "M[k,r]"}},
      {"mttkrp_3", "M[i,r] = T[i,j,k] * B[j,r] * C[k,r]", {"T[i,j,k]", "B[j,r]", "C[k,r]"}},
      {"mttkrp_4",
       "M[b,r] = T[b,m,k,l] * B[m,r] * C[k,r] * D[l,r]",
       {"T[b,m,k,l]", "B[m,r]", "C[k,r]", "D[l,r]"}},
      {"row_max", "y[i] = max(j, A[i,j])", {"A[i,j]"}},
      {"row_min_product", "y[i] = min(j, A[i,j] * x[j])", {"A[i,j]", "x[j]"}},
      {"column_prod", "y[j] = prod(i, A[i,j] + 1)", {"A[i,j]"}},
      {"row_prod", "y[i] = prod(j, A[i,j])", {"A[i,j]"}},
      {"row_mean", "y[i] = mean(j, A[i,j])", {"A[i,j]"}},
      {"stored_max", "y[i] = max(j in A[i,j], A[i,j] * x[j])", {"A[i,j]", "x[j]"}},
      {"stored_max_product",
       "C[i,k] = max(j in A[i,j], A[i,j] * B[j,k], empty=0)",
       {"A[i,j]", "B[j,k]"}},
      {"stored_min_product", "C[i,k] = min(j in A[i,j], A[i,j] * B[j,k])", {"A[i,j]", "B[j,k]"}},
      {"stored_mean_product", "C[i,k] = mean(j in A[i,j], A[i,j] * B[j,k])", {"A[i,j]", "B[j,k]"}},
      {"max_sum", "C[i,k] = max(j, A[i,j] + B[j,k])", {"A[i,j]", "B[j,k]"}},
      {"argmax", "y[i] = argmax(j, A[i,j])", {"A[i,j]"}},
      {"stored_argmin", "y[i] = argmin(j in A[i,j], A[i,j] * x[j])", {"A[i,j]", "x[j]"}},
      {"logsumexp", "y[i] = logsumexp(j, A[i,j])", {"A[i,j]"}},
      {"stored_logsumexp",
       "C[i,k] = logsumexp(j in A[i,j], A[i,j] * B[j,k])",
       {"A[i,j]", "B[j,k]"}},
      {"softmax", "C[i,j] = softmax(j in A[i,j], A[i,j] * x[j])", {"A[i,j]", "x[j]"}},
      {"log_softmax", "C[i,j] = log_softmax(j in A[i,j], A[i,j] - x[j])", {"A[i,j]", "x[j]"}},
      {"dense_softmax", "C[i,j] = softmax(j, A[i,j])", {"A[i,j]"}},
      {"attention",
       "S[i,j] = Q[i,d] * K[j,d]\nO[i,l] = softmax(j in A[i,j], S[i,j]) * V[j,l]",
       {"A[i,j]", "Q[i,d]", "K[j,d]", "V[j,l]"}},
      {"full_max", "s = max((i,j), A[i,j] - x[j])", {"A[i,j]", "x[j]"}},
      {"masked", "C[i,j] = within(A[i,j], B[i,j])", {"A[i,j]", "B[i,j]"}},
      {"elementwise_max", "C[i,j] = max(A[i,j], B[i,j])", {"A[i,j]", "B[i,j]"}},
      {"choice", "D[i,j] = where(A[i,j], B[i,j], C[i,j])", {"A[i,j]", "B[i,j]", "C[i,j]"}},
      {"normalised", "C[i,j] = A[i,j] / max(k, abs(B[i,k]))", {"A[i,j]", "B[i,k]"}},
      {"inner_product_3", "s = sum((i,j,k), T[i,j,k] * U[i,j,k])", {"T[i,j,k]", "U[i,j,k]"}},
  };
  return all;
}

namespace {

// Whether the comma-separated list in the variable contains the word. True if the variable is not
// set.
bool is_wanted(const char* variable, std::string_view word) {
  const char* list = std::getenv(variable);
  return !list || concat(",", list, ",").find(concat(",", word, ",")) != std::string::npos;
}

// Whether all level kinds of the format are selected. A composite format is if any of its kinds is.
bool is_wanted_format(const std::string& text, size_t rank) {
  constexpr auto kVariable = "TULLE_TEST_LEVELS";
  if (CompositeFormat::is_composite(text)) return !std::getenv(kVariable);
  const Format format = Format::parse(text, static_cast<int>(rank));
  const auto& levels = format.levels();
  return std::all_of(levels.begin(), levels.end(),
                     [&](const Level& level) { return is_wanted(kVariable, text_of(level.kind)); });
}

// The combinations in which all formats are selected.
std::vector<std::vector<size_t>> wanted_rows(std::vector<std::vector<size_t>> rows,
                                             const std::vector<Parsed>& operands) {
  std::vector<std::vector<bool>> wanted;
  for (const Parsed& operand : operands) {
    wanted.emplace_back();
    for (const std::string& text : formats(operand.indices.size()))
      wanted.back().push_back(is_wanted_format(text, operand.indices.size()));
  }
  std::erase_if(rows, [&](const std::vector<size_t>& row) {
    for (size_t at = 0; at < row.size(); ++at) {
      if (!wanted[at][row[at]]) return true;
    }
    return false;
  });
  return rows;
}

}  // namespace

std::vector<Case> cells(const Operation& operation, bool all) {
  std::vector<Parsed> operands;
  std::vector<size_t> counts;
  for (const std::string& text : operation.operands) {
    operands.push_back(parse_access(text));
    counts.push_back(formats(operands.back().indices.size()).size());
  }
  std::vector<std::vector<size_t>> rows = combinations(counts);
  if (!all) rows = sample(std::move(rows));
  std::vector<Case> found;
  size_t number = 0;
  // Operations with few combinations take several rounds, so that every condition and type occurs.
  const size_t wanted =
      std::max<size_t>(rows.size(), static_cast<size_t>(kConditions) * kTypes.size());
  for (size_t at = 0; !all && at < wanted; ++at, ++number) {
    const auto condition = static_cast<Condition>(at % kConditions);
    const size_t type = at / kConditions % kTypes.size();
    // The parity of the bits is independent of any remainder of the number.
    const bool light = std::popcount(number) % 2 == 1;
    found.push_back(make_cell(operation, operands, rows[at % rows.size()],
                              {condition, type, number, number, light}));
  }
  if (all) rows = wanted_rows(std::move(rows), operands);
  for (size_t at = 0; all && at < rows.size(); ++at) {
    for (size_t type = 0; type < kTypes.size(); ++type, ++number) {
      if (!is_wanted("TULLE_TEST_TYPES", name_of(kTypes[type]))) continue;
      for (int condition = 0; condition < kConditions; ++condition) {
        // Shrinks each index in turn, for every type. For every combination of formats, one type in
        // optimised code, with each index in turn.
        const size_t shrunk = at / kTypes.size() + type;
        const bool light = (at + type) % kTypes.size() != 0;
        found.push_back(
            make_cell(operation, operands, rows[at],
                      {static_cast<Condition>(condition), type, number, shrunk, light}));
      }
    }
  }
  return found;
}

}  // namespace tulle::differential
