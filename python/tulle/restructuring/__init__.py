"""Changes of structure: indexing, joining, reshaping, diagonals. No change computes with values."""
