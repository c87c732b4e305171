"""Running programs: keys, checks of operands, calls of the compiled library, results, and the
schedules that the compiler proposes."""
