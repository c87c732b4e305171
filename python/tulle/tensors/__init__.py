"""The sparse tensor: formats, patterns, entries, printing and the class itself."""
