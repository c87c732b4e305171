"""Products: '@' and PyTorch's functions, every format, remembered calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
from helpers import DTYPES, INDEX_DTYPES, MATRIX_FORMATS, assert_equal, random_dense, random_sparse
from torch.nn import functional

import tulle


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
def test_sparse_times_dense(format: str, dtype: torch.dtype, index_dtype: torch.dtype) -> None:
    a, b = random_sparse(6, 7, dtype=dtype), random_dense(7, 5, dtype=dtype)
    tensor = tulle.tensor(a, format=format, index_dtype=index_dtype)
    for _ in range(3):
        assert_equal(tensor @ b, a @ b)
        assert_equal(tensor @ b[:, 0], a @ b[:, 0])


@pytest.mark.parametrize("format", MATRIX_FORMATS)
def test_dense_times_sparse(format: str) -> None:
    a, b = random_dense(6, 7), random_sparse(7, 5)
    tensor = tulle.tensor(b, format=format)
    assert_equal(a @ tensor, a @ b)
    assert_equal(a[0] @ tensor, a[0] @ b)
    assert_equal(tulle.tensor(a).values()[:7] @ tensor, tulle.tensor(a).values()[:7] @ b)


@pytest.mark.parametrize("left", MATRIX_FORMATS)
@pytest.mark.parametrize("right", MATRIX_FORMATS)
def test_sparse_times_sparse(left: str, right: str) -> None:
    a, b = random_sparse(6, 7), random_sparse(7, 5, seed=1)
    product = tulle.tensor(a, format=left) @ tulle.tensor(b, format=right)
    assert isinstance(product, tulle.SparseTensor)
    assert_equal(product, a @ b)


def test_square_operands_are_not_exchanged() -> None:
    a, b = random_sparse(4, 4), random_dense(4, 4)
    tensor = tulle.tensor(a)
    assert_equal(tensor @ b, a @ b)
    assert_equal(b @ tensor, b @ a)


@pytest.mark.parametrize("columns", [0, 1, 3, 4, 7, 8, 16, 31, 33, 64, 100])
def test_widths(columns: int) -> None:
    a = random_sparse(20, 30, dtype=torch.float32)
    b = random_dense(30, columns, dtype=torch.float32)
    tensor = tulle.tensor(a)
    for _ in range(2):
        assert_equal(tensor @ b, a @ b)


def test_one_tensor_times_many_shapes_and_types() -> None:
    a = random_sparse(6, 7, dtype=torch.float32)
    tensor = tulle.tensor(a)
    for columns in (1, 5, 2, 9):
        for dtype in (torch.float32, torch.float64):
            b = random_dense(7, columns, dtype=dtype)
            assert_equal(tensor @ b, a.to(dtype) @ b)
            assert_equal(tensor @ b[:, 0], a.to(dtype) @ b[:, 0])


def test_operands_need_not_be_row_major() -> None:
    a, b = random_sparse(6, 7), random_dense(5, 7)
    tensor = tulle.tensor(a)
    for _ in range(3):
        assert_equal(tensor @ b.T, a @ b.T)
        assert_equal(tensor @ b.T[:, ::2], a @ b.T[:, ::2])
        assert_equal(tensor @ b[0].expand(3, 7).T, a @ b[0].expand(3, 7).T)


def test_parameters_and_subclasses() -> None:
    a, b = random_sparse(6, 7), random_dense(7, 5)
    with torch.no_grad():
        assert_equal(tulle.tensor(a) @ torch.nn.Parameter(b), a @ b)


@pytest.mark.parametrize("batch", [(2,), (2, 3)])
def test_batches_of_dense_matrices(batch: tuple[int, ...]) -> None:
    a, b = random_sparse(6, 7), random_dense(*batch, 7, 5)
    assert_equal(tulle.tensor(a) @ b, a @ b)
    assert_equal(b.mT @ tulle.tensor(a).T, b.mT @ a.T)


def test_batches_of_sparse_matrices() -> None:
    a, b = random_sparse(3, 6, 7), random_dense(3, 7, 5)
    for format in ("csr", "csc", "csf", "coo"):
        tensor = tulle.tensor(a, format=format)
        assert_equal(tensor @ b, a @ b)
        assert_equal(tensor @ b[0], a @ b[0])
        assert_equal(tensor @ b[:1], a @ b[:1])


def test_other_kinds_of_operands() -> None:
    a, b = random_sparse(6, 7), random_sparse(7, 5, seed=1)
    tensor = tulle.tensor(a)
    assert_equal(tensor @ b.to_sparse_csr(), a @ b)
    assert_equal(tensor @ scipy.sparse.csr_array(b.numpy()), a @ b)
    assert_equal(tensor @ b.numpy(), a @ b)
    assert_equal(np.ones((2, 6)) @ tensor, torch.ones(2, 6, dtype=torch.float64) @ a)
    for _ in range(2):
        assert_equal(tensor @ b, a @ b)
        assert_equal(tensor @ b.to_sparse_csr(), a @ b)


def test_types_promote() -> None:
    a, b = random_sparse(6, 7, dtype=torch.int32), random_dense(7, 5, dtype=torch.float64)
    assert_equal(tulle.tensor(a) @ b, a.to(torch.float64) @ b)


PRODUCTS: list[Callable[[Any, Any], Any]] = [
    torch.mm,
    torch.matmul,
    torch.sparse.mm,
]


@pytest.mark.parametrize("product", PRODUCTS)
def test_torch_functions(product: Callable[[Any, Any], Any]) -> None:
    a, b = random_sparse(6, 7), random_dense(7, 5)
    assert_equal(product(tulle.tensor(a), b), a @ b)
    assert_equal(product(a, tulle.tensor(b)), a @ b)
    assert_equal(product(tulle.tensor(a), tulle.tensor(b)), a @ b)


def test_methods_of_dense_tensors() -> None:
    a, b = random_dense(6, 7), random_sparse(7, 5)
    assert_equal(a.matmul(tulle.tensor(b)), a @ b)
    assert_equal(a.mm(tulle.tensor(b)), a @ b)


def test_other_torch_products() -> None:
    a, b, c = random_sparse(6, 7), random_dense(7, 5), random_dense(6, 5)
    assert_equal(torch.mv(tulle.tensor(a), b[:, 0]), a @ b[:, 0])
    assert_equal(torch.bmm(tulle.tensor(a[None]), b[None]), (a @ b)[None])
    assert_equal(torch.addmm(c, tulle.tensor(a), b), c + a @ b)
    expected = torch.addmm(c, a, b, beta=2, alpha=3)
    assert_equal(torch.addmm(c, tulle.tensor(a), b, beta=2, alpha=3), expected)
    assert_equal(torch.sparse.addmm(c, tulle.tensor(a), b), c + a @ b)


def test_linear() -> None:
    x, weight, bias = random_dense(4, 7), random_sparse(6, 7), random_dense(6)
    tensor = tulle.tensor(weight)
    assert_equal(functional.linear(x, tensor), functional.linear(x, weight))
    assert_equal(functional.linear(x, tensor, bias), functional.linear(x, weight, bias))
    assert_equal(functional.linear(x[0], tensor, bias), functional.linear(x[0], weight, bias))
    stacked = random_dense(2, 3, 7)
    assert_equal(functional.linear(stacked, tensor, bias), functional.linear(stacked, weight, bias))
    with pytest.raises(tulle.UserError, match="weight must be a matrix"):
        functional.linear(x, tulle.tensor(weight[0]))


def test_sizes_must_agree() -> None:
    tensor = tulle.tensor(random_sparse(6, 7))
    for _ in range(2):
        with pytest.raises(tulle.UserError, match=r"\bj\b"):
            _ = tensor @ random_dense(6, 5)
        assert_equal(tensor @ torch.zeros(7, 1), torch.zeros(6, 1, dtype=torch.float64))


def test_scalars_and_strangers_are_refused() -> None:
    tensor = tulle.tensor(random_sparse(6, 7))
    with pytest.raises(tulle.UserError, match=r"multiply by a scalar with '\*'"):
        _ = tensor @ torch.tensor(2.0)
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = tensor @ "B"


def test_operands_are_not_changed() -> None:
    a, b = random_sparse(6, 7), random_dense(7, 5)
    tensor = tulle.tensor(a)
    before = [array.clone() for array in (*tensor.pattern.arrays, tensor.values(), b)]
    _ = tensor @ b
    after = (*tensor.pattern.arrays, tensor.values(), b)
    assert all(torch.equal(x, y) for x, y in zip(before, after, strict=True))


@pytest.mark.parametrize("format", MATRIX_FORMATS)
def test_powers_and_chains(format: str) -> None:
    data, x = random_sparse(5, 5), random_dense(5, 2)
    tensor = tulle.tensor(data, format=format)
    for power in range(6):
        expected = torch.linalg.matrix_power(data, power)
        for found in (tensor.matrix_power(power), torch.linalg.matrix_power(tensor, power)):
            assert_equal(found, expected)
    assert tensor.matrix_power(0).format == tensor.format
    dense = data @ data @ x
    assert_equal(torch.linalg.multi_dot([tensor, tensor, x]), dense)
    out = torch.empty_like(dense)
    assert torch.linalg.multi_dot([tensor, tensor, x], out=out) is out
    assert_equal(out, dense)
    assert_equal(torch.linalg.multi_dot([x.T, tensor, tensor]), x.T @ data @ data)
    assert_equal(torch.chain_matmul(tensor, tensor, tensor), data @ data @ data)
    assert_equal(torch.dot(tensor[0], x[:, 0]), data[0] @ x[:, 0])
    with pytest.raises(tulle.UserError, match=r"Invert A\.to_dense\(\)"):
        tensor.matrix_power(-1)
    with pytest.raises(tulle.UserError, match="square"):
        tensor[:2].matrix_power(2)
    with pytest.raises(tulle.UserError, match="two vectors"):
        torch.dot(tensor, x)
