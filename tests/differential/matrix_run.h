// Runs cells of the matrix on all cores and counts them.
#pragma once

#include "differential/matrix.h"

namespace tulle::differential {

// TULLE_TEST_SLICE=2/8 in the environment selects the second of eight slices of the cells.
//
// Runs the cells with the engines, prints a line about them and fails the current GoogleTest test
// if a cell is wrong. At the end of all tests, prints the sum over all calls.
void expect_right(const std::string& name, const std::vector<Case>& cells, int engines);

}  // namespace tulle::differential
