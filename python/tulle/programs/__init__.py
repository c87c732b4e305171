"""Programs and their operands: keys, checks, calls of the compiled library, results."""
