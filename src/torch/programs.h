// The table of this process's programs, by key.
//
// It keeps a limited number of programs and amount of code (TULLE_KEEP_PROGRAMS,
// TULLE_KEEP_CODE_MB) and drops the least recently used programs first. A dropped program is
// compiled again when needed, mostly from the disk cache. A thread that runs a dropped program
// holds a reference; the code is unloaded with the last reference.
#pragma once

#include <memory>
#include <string_view>

#include "prepared.h"

namespace tulle::shim {

// The program of that key. Makes it if this process does not have it. If several threads request it
// at once, one of them makes it. The child of a fork has the programs that the parent had finished.
std::shared_ptr<const Prepared> find_program(std::string_view key);

// A number for the program of that key, which is cheaper to pass than the key. It is valid in this
// process and its forks, also after the table dropped the program.
int64_t number_of_program(std::string_view key);
// The program of a number; throws UserError for an unknown number.
std::shared_ptr<const Prepared> numbered_program(int64_t number);

// The number of additions to and removals from the table. Owners of references compare it to find
// programs that the table has dropped.
uint64_t table_changes();
// Records a use of the program. Takes no lock.
void note_use(const Prepared& prepared);
// Records that code was compiled for the program; the table may then drop others.
void note_growth(const Prepared& prepared);

// The number of programs, including those being made.
int64_t program_count();

}  // namespace tulle::shim
