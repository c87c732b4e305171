"""Exports to torch and SciPy, coordinates, and conversions between formats."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse
import torch
from helpers import DTYPES, MATRIX_FORMATS, assert_equal, random_sparse

import tulle

FORMATS_OF_RANK_3 = [
    "csf",
    "coo",
    "csr",
    "csc",
    "(i,j,k) -> (k: dense, j: compressed, i: compressed)",
    "(i,j,k) -> (j: compressed, i: compressed, k: dense)",
]


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_to_torch(format: str, dtype: torch.dtype) -> None:
    data = random_sparse(6, 6, dtype=dtype)
    tensor = tulle.tensor(data, format=format)
    exported = tensor.to_torch()
    kind = format.split("(")[0]
    expected = {"csr", "csc", "bsr", "bsc"} & {kind} or {"coo"}
    assert str(exported.layout) == f"torch.sparse_{expected.pop()}"
    assert_equal(exported.to_dense(), data)
    if kind in ("csr", "csc", "bsr", "bsc", "coo"):
        assert exported.values().data_ptr() == tensor.values().data_ptr()


def test_torch_does_not_warn_of_its_layouts() -> None:
    """In a process of its own, because torch warns of compressed layouts once."""
    program = """
import tulle, warnings
warnings.simplefilter("error")
before = list(warnings.filters)
tulle.rand(6, 6, nnz=9).to_torch()
assert warnings.filters == before
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("source", ["csr", "csc", "bsr", "bsc", "coo"])
def test_torch_round_trip_copies_nothing(source: str) -> None:
    data = random_sparse(6, 6)
    arguments = [(2, 3)] if source in ("bsr", "bsc") else []
    original = getattr(data, f"to_sparse_{source}")(*arguments)
    exported = tulle.tensor(original).to_torch()
    assert exported.layout == original.layout
    assert exported.values().data_ptr() == original.values().data_ptr()
    assert_equal(exported.to_dense(), data)


def test_blocks_that_do_not_divide_the_size_become_coo() -> None:
    data = random_sparse(5, 7)
    exported = tulle.tensor(data, format="bsr(2,3)").to_torch()
    assert exported.layout == torch.sparse_coo
    assert_equal(exported.to_dense(), data)


@pytest.mark.parametrize("format", MATRIX_FORMATS)
def test_to_scipy(format: str) -> None:
    data = random_sparse(6, 6)
    tensor = tulle.tensor(data, format=format)
    exported = tensor.to_scipy()
    kind = format.split("(")[0]
    assert exported.format == (kind if kind in ("csr", "csc", "coo", "bsr") else "csr")
    assert (exported.toarray() == data.numpy()).all()
    if kind in ("csr", "csc", "coo", "bsr"):
        assert exported.data.ctypes.data == tensor.values().data_ptr()


def test_scipy_round_trip_shares_the_values() -> None:
    original = scipy.sparse.csr_array(random_sparse(6, 6).numpy())
    exported = tulle.tensor(original).to_scipy()
    assert exported.data.ctypes.data == original.data.ctypes.data
    assert exported.indices.ctypes.data != original.indices.ctypes.data


@pytest.mark.parametrize(
    "convert", [torch.tensor, torch.asarray, torch.as_tensor, torch.from_dlpack, np.from_dlpack]
)
def test_implicit_conversions_are_refused(convert: Callable[[object], object]) -> None:
    with pytest.raises(tulle.UserError, match=r"A\.to_dense\(\) for a dense tensor"):
        convert(tulle.tensor(random_sparse(4, 5)))


def test_to_scipy_is_for_matrices() -> None:
    with pytest.raises(tulle.UserError, match="rank 3"):
        tulle.tensor(random_sparse(2, 3, 4)).to_scipy()


@pytest.mark.parametrize("source", MATRIX_FORMATS)
@pytest.mark.parametrize("target", MATRIX_FORMATS)
@pytest.mark.parametrize("shape", [(6, 9), (5, 4)])
def test_conversions(source: str, target: str, shape: tuple[int, int]) -> None:
    data = random_sparse(*shape, dtype=torch.float32)
    tensor = tulle.tensor(data, format=source).to(format=target)
    assert tensor.format == target
    assert_equal(tensor, data)


@pytest.mark.parametrize("source", FORMATS_OF_RANK_3)
@pytest.mark.parametrize("target", FORMATS_OF_RANK_3)
def test_conversions_of_rank_three(source: str, target: str) -> None:
    data = random_sparse(3, 4, 5)
    tensor = tulle.tensor(data, format=source).to(format=target)
    assert tensor.format == tulle.Format(target, 3)
    assert_equal(tensor, data)
    assert_equal(tensor.to_torch().to_dense(), data)


def test_conversion_keeps_explicit_zeros() -> None:
    levels = [{}, {"pos": [0, 1, 2], "crd": [1, 0]}]
    tensor = tulle.from_levels("csr", (2, 2), levels, [0.0, 5.0])
    for format in ("csc", "coo", "dcsr"):
        assert tensor.to(format=format).nnz == 2


def test_to_the_same_format_is_the_same_tensor() -> None:
    tensor = tulle.tensor(torch.eye(3))
    assert tensor.to(format="csr") is tensor
    assert tensor.to() is tensor


def test_to_dtype_shares_the_pattern() -> None:
    tensor = tulle.tensor(torch.eye(3))
    other = tensor.to(dtype=torch.float64)
    assert other.dtype == torch.float64
    assert other.pattern is tensor.pattern
    assert_equal(tensor.to(format="csc", dtype=torch.int64), torch.eye(3, dtype=torch.int64))
