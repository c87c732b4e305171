// Parses a format within a longer text.
#pragma once

#include "format/format.h"
#include "support/scanner.h"

namespace tulle {

// The symbols in the texts of formats.
ScannerOptions format_symbols();

// The largest rank; PyTorch has the same limit.
constexpr int kLargestRank = 64;
// Throws UserError unless a tensor can have that rank.
void check_rank(int rank);

// Parses a format for a tensor of that rank, a name or the long form, and leaves the text after it.
Format parse_format(Scanner& scanner, int rank);

}  // namespace tulle
