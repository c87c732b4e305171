"""Pictures of matrices and searches, drawn by the optional package matplotlib."""
