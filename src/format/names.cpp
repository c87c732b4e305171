// The table of named formats.
#include "format/names.h"

#include <array>

#include "support/check.h"

namespace tulle {

namespace {

// A matrix format is a list of levels over the last two dimensions (0: rows, 1: columns). The
// divisors of block levels are filled in from the arguments: the block's rows, then its columns.
struct MatrixFormat {
  std::string_view name;
  std::vector<Level> levels;
  bool blocks;
};

Level whole(int dimension, LevelKind kind) {
  return {.expr = {.dimension = dimension}, .kind = kind};
}

Level block(int dimension, LevelExpr::Part part, LevelKind kind) {
  return {.expr = {.dimension = dimension, .part = part}, .kind = kind};
}

const std::vector<MatrixFormat>& matrix_formats() {
  using enum LevelKind;
  using enum LevelExpr::Part;
  static const std::vector<MatrixFormat> formats = {
      {"csr", {whole(0, Dense), whole(1, Compressed)}, false},
      {"csc", {whole(1, Dense), whole(0, Compressed)}, false},
      {"dcsr", {whole(0, Compressed), whole(1, Compressed)}, false},
      {"dcsc", {whole(1, Compressed), whole(0, Compressed)}, false},
      {"bsr",
       {block(0, Quotient, Dense), block(1, Quotient, Compressed), block(0, Remainder, Dense),
        block(1, Remainder, Dense)},
       true},
      {"bsc",
       {block(1, Quotient, Dense), block(0, Quotient, Compressed), block(0, Remainder, Dense),
        block(1, Remainder, Dense)},
       true},
  };
  return formats;
}

// b (or b0, b1, ...) for the batch, then i, j.
std::vector<std::string> matrix_dimension_names(int rank) {
  std::vector<std::string> names;
  for (int d = 0; d + 2 < rank; ++d) names.push_back(rank == 3 ? "b" : concat("b", d));
  names.insert(names.end(), {"i", "j"});
  return names;
}

Format batched(const MatrixFormat& format, const std::vector<int64_t>& arguments, int rank) {
  std::vector<Level> levels;
  for (int d = 0; d + 2 < rank; ++d) levels.push_back(whole(d, LevelKind::Dense));
  for (Level level : format.levels) {
    if (level.expr.part != LevelExpr::Part::Whole) {
      level.expr.divisor = arguments[static_cast<size_t>(level.expr.dimension)];
    }
    level.expr.dimension += rank - 2;
    levels.push_back(level);
  }
  return {matrix_dimension_names(rank), std::move(levels)};
}

void check_arguments(const MatrixFormat& format, const std::vector<int64_t>& arguments) {
  if (!format.blocks && !arguments.empty()) {
    user_error("The format '", format.name,
               "' takes no arguments; a dimension order is given by the ",
               "long form, (i,j) -> (j: dense, i: compressed) say.");
  }
  if (!format.blocks) return;
  if (arguments.size() != 2) {
    user_error("The format '", format.name, "' takes the rows and columns of a block, ",
               format.name, "(16,16) say, but ", arguments.size(), " arguments were given.");
  }
  for (const int64_t size : arguments) {
    if (size < 1) {
      user_error("The format '", format.name, "' needs blocks of at least 1 x 1, but ",
                 arguments[0], " x ", arguments[1], " was given.");
    }
  }
}

// The block that the levels have, if all is as in that block format.
std::vector<int64_t> block_of(const Format& format) {
  std::vector<int64_t> divisors(2, 0);
  for (const Level& level : format.levels()) {
    const int dimension = level.expr.dimension - (format.rank() - 2);
    if (dimension >= 0) divisors[static_cast<size_t>(dimension)] = level.expr.divisor;
  }
  return divisors;
}

}  // namespace

std::optional<Format> format_named(std::string_view name, const std::vector<int64_t>& arguments,
                                   int rank) {
  if (name == "dense" || name == "coo" || name == "csf") {
    if (!arguments.empty()) user_error("The format '", name, "' takes no arguments.");
    if (name == "dense") return Format::dense(rank);
    if (rank == 0) user_error("A scalar is 'dense'; it cannot be stored as '", name, "'.");
    return name == "coo" ? Format::coo(rank) : Format::csf(rank);
  }
  for (const MatrixFormat& format : matrix_formats()) {
    if (format.name != name) continue;
    check_arguments(format, arguments);
    if (rank < 2) {
      user_error("The format '", name,
                 "' is for matrices and batches of them, but the tensor has rank ", rank,
                 "; use 'dense'", rank == 1 ? " or 'coo'." : ".");
    }
    return batched(format, arguments, rank);
  }
  return std::nullopt;
}

std::string format_names() {
  std::string names = "dense, coo, csf";
  for (const MatrixFormat& format : matrix_formats()) {
    names += concat(", ", format.name, format.blocks ? "(r,c)" : "");
  }
  return names;
}

std::optional<std::string> name_of(const Format& format) {
  const int rank = format.rank();
  if (format == Format::dense(rank)) return "dense";
  if (format == Format::coo(rank)) return "coo";
  if (rank >= 2) {
    for (const MatrixFormat& candidate : matrix_formats()) {
      const std::vector<int64_t> divisors =
          candidate.blocks ? block_of(format) : std::vector<int64_t>();
      if (candidate.blocks && !format.has_blocks()) continue;
      if (batched(candidate, divisors, rank) != format) continue;
      return candidate.blocks ? concat(candidate.name, "(", divisors[0], ",", divisors[1], ")")
                              : std::string(candidate.name);
    }
  }
  if (format == Format::csf(rank)) return "csf";
  return std::nullopt;
}

std::vector<std::string> default_dimension_names(int rank) {
  static constexpr std::array<std::string_view, 6> letters = {"i", "j", "k", "l", "m", "n"};
  std::vector<std::string> names;
  for (int d = 0; d < rank; ++d) {
    const auto index = static_cast<size_t>(d);
    names.push_back(index < letters.size() ? std::string(letters[index]) : concat("d", d));
  }
  return names;
}

}  // namespace tulle
