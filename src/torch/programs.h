// The table of compiled programs of this process, by key.
//
// It keeps a limited number of programs and amount of code (TULLE_KEEP_PROGRAMS,
// TULLE_KEEP_CODE_MB). What was used least recently goes first, and is compiled anew, mostly from
// the disk, when it is asked for again. Whoever is running a program that goes has a handle of his
// own: its code is unloaded with the last handle.
#pragma once

#include <memory>
#include <string_view>

#include "prepared.h"

namespace tulle::shim {

// The program of that key, compiled if this process does not have it. Any number of threads may ask
// at once, one of them compiles; after a fork the child has what the parent had finished.
std::shared_ptr<const Prepared> find_program(std::string_view key);

// A number for the program of that key, good in this process and in what it forks, even if the
// program goes meanwhile: handing it over costs less than the key.
int64_t number_of_program(std::string_view key);
// The program of a number; UserError for one that was never given.
std::shared_ptr<const Prepared> numbered_program(int64_t number);

// Counts what the table adds and removes. Who keeps handles compares it from time to time and lets
// go of programs that are not kept any more.
uint64_t table_changes();
// Says that a program is in use. Takes no lock.
void note_use(const Prepared& prepared);
// Says that code was compiled for the program, so that others may have to go.
void note_growth(const Prepared& prepared);

// How many there are, those included that are being compiled.
int64_t program_count();

}  // namespace tulle::shim
