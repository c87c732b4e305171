// The table of named formats.
#include "format/names.h"

#include <array>

#include "support/check.h"

namespace tulle {

namespace {

// The meaning of the numbers after a name.
enum class Argument : uint8_t { BlockRows, BlockColumns, Width, Multiple };

// A matrix format is a list of levels over the last two dimensions (0: rows, 1: columns). The
// arguments replace divisors, widths and multiples that are 0.
struct MatrixFormat {
  std::string_view name;
  std::vector<Level> levels;
  std::vector<Argument> arguments;
  std::string_view usage;  // for messages
};

Level whole(int dimension, LevelKind kind) {
  return {.expr = {.dimension = dimension}, .kind = kind};
}

Level block(int dimension, LevelExpr::Part part, LevelKind kind) {
  return {.expr = {.dimension = dimension, .part = part}, .kind = kind};
}

Level difference(int dimension, int second, LevelKind kind) {
  return {.expr = {.dimension = dimension, .part = LevelExpr::Part::Difference, .second = second},
          .kind = kind};
}

Level rounded(Level level) {
  level.multiple = 0;
  return level;
}

const std::vector<MatrixFormat>& matrix_formats() {
  using enum LevelKind;
  using enum LevelExpr::Part;
  using enum Argument;
  constexpr std::string_view blocks = "the rows and columns of a block";
  static const std::vector<MatrixFormat> formats = {
      {"csr", {whole(0, Dense), whole(1, Compressed)}, {}, {}},
      {"csc", {whole(1, Dense), whole(0, Compressed)}, {}, {}},
      {"dcsr", {whole(0, Compressed), whole(1, Compressed)}, {}, {}},
      {"dcsc", {whole(1, Compressed), whole(0, Compressed)}, {}, {}},
      {"bsr",
       {block(0, Quotient, Dense), block(1, Quotient, Compressed), block(0, Remainder, Dense),
        block(1, Remainder, Dense)},
       {BlockRows, BlockColumns},
       blocks},
      {"bsc",
       {block(1, Quotient, Dense), block(0, Quotient, Compressed), block(0, Remainder, Dense),
        block(1, Remainder, Dense)},
       {BlockRows, BlockColumns},
       blocks},
      {"dbsr",
       {block(0, Quotient, Compressed), block(1, Quotient, Compressed), block(0, Remainder, Dense),
        block(1, Remainder, Dense)},
       {BlockRows, BlockColumns},
       blocks},
      {"ell",
       {whole(0, Dense), whole(1, Padded)},
       {Width},
       "the maximum number of entries per row"},
      {"dell",
       {whole(0, Compressed), whole(1, Padded)},
       {Width},
       "the maximum number of entries per row"},
      {"pieces",
       {whole(0, Compressed), rounded(whole(1, Compressed))},
       {Multiple},
       "the number of entries per piece of a row"},
      {"dia", {difference(1, 0, Compressed), whole(0, Range)}, {}, {}},
      {"ragged", {whole(0, Dense), whole(1, Ragged)}, {}, {}},
      {"bitmap", {whole(0, Dense), whole(1, Bitmap)}, {}, {}},
      {"sr-bcrs",
       {block(0, Quotient, Dense), rounded(whole(1, Compressed)), block(0, Remainder, Dense)},
       {BlockRows, Multiple},
       "the rows of a block and the multiple to which its number of columns is rounded up"},
  };
  return formats;
}

// Dimension names: b (or b0, b1, ...) for the batch, then i, j.
std::vector<std::string> matrix_dimension_names(int rank) {
  std::vector<std::string> names;
  for (int d = 0; d + 2 < rank; ++d) names.push_back(rank == 3 ? "b" : concat("b", d));
  names.insert(names.end(), {"i", "j"});
  return names;
}

// The value of an argument in a format of that rank; 1 if the format has none.
int64_t argument_of(const Format& format, Argument argument) {
  for (const Level& level : format.levels()) {
    const int dimension = level.expr.dimension - (format.rank() - 2);
    const bool is_block = !level.expr.is_whole() && !level.expr.is_difference();
    if (argument == Argument::BlockRows && dimension == 0 && is_block) return level.expr.divisor;
    if (argument == Argument::BlockColumns && dimension == 1 && is_block) return level.expr.divisor;
    if (argument == Argument::Width && has_width(level.kind)) return level.width;
    if (argument == Argument::Multiple && level.multiple > 1) return level.multiple;
  }
  return 1;
}

Format batched(const MatrixFormat& format, const std::vector<int64_t>& arguments, int rank) {
  auto value = [&](Argument wanted) -> int64_t {
    for (size_t a = 0; a < arguments.size(); ++a) {
      if (format.arguments[a] == wanted) return arguments[a];
    }
    return 1;
  };
  std::vector<Level> levels;
  for (int d = 0; d + 2 < rank; ++d) levels.push_back(whole(d, LevelKind::Dense));
  for (Level level : format.levels) {
    if (level.expr.is_difference()) {
      level.expr.second += rank - 2;
    } else if (!level.expr.is_whole()) {
      level.expr.divisor =
          value(level.expr.dimension == 0 ? Argument::BlockRows : Argument::BlockColumns);
    }
    if (has_width(level.kind)) level.width = value(Argument::Width);
    if (level.multiple == 0) level.multiple = value(Argument::Multiple);
    level.expr.dimension += rank - 2;
    levels.push_back(level);
  }
  return {matrix_dimension_names(rank), std::move(levels)};
}

std::string spelled(const MatrixFormat& format, const std::vector<std::string>& arguments) {
  std::string text(format.name);
  for (size_t a = 0; a < arguments.size(); ++a) text += (a == 0 ? "(" : ",") + arguments[a];
  return arguments.empty() ? text : text + ")";
}

void check_arguments(const MatrixFormat& format, const std::vector<int64_t>& arguments) {
  if (format.arguments.empty() && !arguments.empty()) {
    user_error("The format '", format.name,
               "' takes no arguments; write a dimension order in the long ",
               "form, for example (i,j) -> (j: dense, i: compressed).");
  }
  if (arguments.size() != format.arguments.size()) {
    const std::vector<std::string> example(format.arguments.size(), "16");
    user_error("The format '", format.name, "' takes ", format.usage, ", as in ",
               spelled(format, example), ", but ", arguments.size(),
               arguments.size() == 1 ? " argument was given." : " arguments were given.");
  }
  std::vector<std::string> texts;
  for (const int64_t value : arguments) texts.push_back(std::to_string(value));
  for (const int64_t value : arguments) {
    if (value >= 1) continue;
    user_error("The format '", format.name, "' takes ", format.usage, ", at least 1, but ",
               spelled(format, texts), " was given.");
  }
}

// r, c, w, ...: placeholders of arguments in messages.
std::vector<std::string> letters_of(const MatrixFormat& format) {
  std::vector<std::string> letters;
  for (const Argument argument : format.arguments) {
    static constexpr std::string_view kLetters[] = {"r", "c", "w", "g"};
    letters.emplace_back(kLetters[static_cast<size_t>(argument)]);
  }
  return letters;
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
    names += concat(", ", spelled(format, letters_of(format)));
  }
  return names;
}

std::optional<std::string> name_of(const Format& format) {
  const int rank = format.rank();
  if (format == Format::dense(rank)) return "dense";
  if (format == Format::coo(rank)) return "coo";
  if (rank >= 2) {
    for (const MatrixFormat& candidate : matrix_formats()) {
      std::vector<int64_t> arguments;
      std::vector<std::string> texts;
      for (const Argument argument : candidate.arguments) {
        arguments.push_back(argument_of(format, argument));
        texts.push_back(std::to_string(arguments.back()));
      }
      if (batched(candidate, arguments, rank) == format) return spelled(candidate, texts);
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
