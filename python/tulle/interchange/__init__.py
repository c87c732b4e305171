"""Sparse tensors from torch, SciPy, NumPy and raw levels, and back to torch and SciPy."""
