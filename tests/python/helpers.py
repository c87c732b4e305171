"""Random tensors and comparisons for all tests."""

from __future__ import annotations

from collections import Counter

import torch
from torch import Tensor

import tulle

DTYPES = [torch.float32, torch.float64, torch.int32, torch.int64]
INDEX_DTYPES = [torch.int32, torch.int64]
# How many combinations of expression, formats and operand the tests of gradients checked, by way.
gradient_checks: Counter[str] = Counter()
MATRIX_FORMATS = ["csr", "csc", "coo", "dcsr", "dcsc", "csf", "bsr(2,3)", "bsc(3,2)"]


def random_dense(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Small integers, which floats represent exactly."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-4, 5, shape, generator=generator).to(dtype)


def random_sparse(
    *shape: int, density: float = 0.3, seed: int = 0, dtype: torch.dtype = torch.float64
) -> Tensor:
    """A dense tensor with mostly zeros."""
    generator = torch.Generator().manual_seed(seed + 1000)
    keep = torch.rand(shape, generator=generator) < density
    return (random_dense(*shape, seed=seed).abs() + 1).mul(keep).to(dtype)


def dense(value: tulle.SparseTensor | Tensor) -> Tensor:
    """The dense tensor of a sparse or dense one."""
    return value.to_dense() if isinstance(value, tulle.SparseTensor) else value


def assert_equal(found: tulle.SparseTensor | Tensor, expected: Tensor) -> None:
    """Asserts equal types, shapes and values."""
    found = dense(found)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    torch.testing.assert_close(found, expected)
