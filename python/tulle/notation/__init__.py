"""Computations as text: einsum, index notation, kernels with a fixed schedule, explanations."""
