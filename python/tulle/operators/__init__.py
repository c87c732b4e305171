"""Arithmetic, reductions and conversions as programs, and PyTorch's functions on sparse tensors."""
