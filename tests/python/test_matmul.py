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
        with pytest.raises(tulle.UserError, match=r"\[6, 7\] and \[6, 5\].*the size 7.*the size 6"):
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


# ---- products of vectors, of tensors and of several matrices -------------------------------------


def test_products_of_vectors_and_tensors() -> None:
    a, b, c = random_sparse(5, 6), random_sparse(6, 4, seed=1), random_sparse(2, 5, 6, seed=2)
    v, w = a[0], b[:, 1]
    for function, *operands in [
        (torch.dot, v, w),
        (torch.vdot, v, w),
        (torch.inner, a, b.T),
        (torch.inner, v, w),
        (torch.outer, v, w),
        (torch.ger, v, w),
        (lambda x, y: torch.tensordot(x, y, 1), a, b),
        (lambda x, y: torch.tensordot(x, y, 0), v, w),
        (lambda x, y: torch.tensordot(x, y, ([1, 2], [0, 1])), c, a),
        (lambda x, y: torch.tensordot(x, y, ([-1, 0], [1, 0])), a, c[1]),
    ]:
        expected = function(*operands)
        assert_equal(function(*map(tulle.tensor, operands)), expected)
        assert_equal(function(tulle.tensor(operands[0]), operands[1]), expected)
        assert_equal(function(operands[0], tulle.tensor(operands[1])), expected)


@pytest.mark.parametrize("format", ["csr", "coo", "bsr(2,3)", "hyb(2,2)"])
def test_products_of_several_matrices(format: str) -> None:
    a, x = random_sparse(6, 6), random_dense(6, 3)
    tensor = tulle.tensor(a, format=format)
    for n in (0, 1, 2, 5):
        power = torch.linalg.matrix_power(tensor, n)
        assert isinstance(power, tulle.SparseTensor)
        assert_equal(power, torch.linalg.matrix_power(a, n))
    assert tensor.matrix_power(0).format == tulle.Format(format)
    assert_equal(torch.linalg.multi_dot([tensor, tensor.T, x]), a @ a.T @ x)
    assert_equal(torch.linalg.multi_dot([x[:, 0], tensor, tensor]), x[:, 0] @ a @ a)
    assert_equal(torch.linalg.multi_dot([tensor, tensor]), a @ a)
    out = torch.empty(6, 3, dtype=a.dtype)
    assert torch.linalg.multi_dot([tensor, x], out=out) is out
    assert_equal(out, a @ x)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a: torch.dot(a, a), "dot: expected two vectors, but found ranks 2, 2"),
        (lambda a: torch.outer(a, a[0]), "outer: expected two vectors"),
        (lambda a: torch.tensordot(a, a, 3), "tensordot: 3 dimensions do not fit"),
        (lambda a: torch.tensordot(a, a, ([0], [0, 1])), "must name equally many dimensions"),
        (lambda a: torch.linalg.multi_dot([a]), "expected at least two tensors, but found 1"),
        (lambda a: torch.linalg.matrix_power(a, -1), r"not -1.*Invert A\.to_dense\(\)"),
        (lambda a: torch.linalg.matrix_power(a[:3], 2), r"expected a square matrix.*\[3, 5\]"),
    ],
)
def test_refused_products(function: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        function(tulle.tensor(random_sparse(5, 5)))


@pytest.mark.parametrize("format", [*MATRIX_FORMATS, "ell(7)", "dia", "hyb(2,2)"])
def test_nonzero(format: str) -> None:
    a = random_sparse(5, 7)
    tensor = tulle.tensor(a, format=format)
    tensor.mul_(a != a.max())  # stores zeros
    assert_equal(tensor.nonzero(), (a * (a != a.max())).nonzero())
    rows, columns = torch.nonzero(tulle.tensor(a, format=format), as_tuple=True)
    assert_equal(torch.stack([rows, columns]), a.nonzero().T)
