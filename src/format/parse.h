// Reading a format that stands within a longer text.
#pragma once

#include "format/format.h"
#include "support/scanner.h"

namespace tulle {

// The symbols that the texts of formats have.
ScannerOptions format_symbols();

// More dimensions than PyTorch's tensors have none can have.
constexpr int kLargestRank = 64;
// UserError where no tensor has that rank.
void check_rank(int rank);

// Takes a format for a tensor of that rank, a name or the long form, and nothing that follows it.
Format parse_format(Scanner& scanner, int rank);

}  // namespace tulle
