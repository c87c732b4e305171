// Running cells of the matrix on all cores, and counting them.
#pragma once

#include "differential/matrix.h"

namespace tulle::differential {

// TULLE_TEST_SLICE=2/8 in the environment leaves the second of eight slices of the cells.
//
// Runs the cells with the engines, prints a line about them and fails the GoogleTest test that is
// running where a cell is wrong. The sum over all calls is printed when the tests end.
void expect_right(const std::string& name, const std::vector<Case>& cells, int engines);

}  // namespace tulle::differential
