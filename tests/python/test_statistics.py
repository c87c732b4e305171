"""Reductions with torch's overloads against dense torch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from helpers import assert_equal, dense, random_sparse

import tulle

FORMATS = ["csr", "csc", "coo", "bsr(2,3)", "ell(6)", "dia", "bitmap", "hyb(2,2)"]
A = (random_sparse(5, 6) - 3) * (random_sparse(5, 6) != 0) / 4
A[2] = 0
A[3] = torch.arange(1, 7)
DIMS = [None, 0, 1, (0, 1)]


def check(found: Any, expected: torch.Tensor) -> None:
    torch.testing.assert_close(dense(found), expected, equal_nan=True)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", ["any", "all", "var", "std", "norm", "nansum", "nanmean"])
def test_methods(name: str, dim: Any, format: str) -> None:
    a = tulle.tensor(A, format=format)
    check(getattr(a, name)(dim=dim), getattr(A, name)(dim=dim))
    if format == "csr" and dim is not None:
        keep = getattr(A, name)(dim=dim, keepdim=True)
        check(getattr(a, name)(dim=dim, keepdim=True), keep)
        check(getattr(torch, name)(a, dim=dim, keepdim=True), keep)


@pytest.mark.parametrize("format", FORMATS)
def test_maxima_with_places(format: str) -> None:
    a = tulle.tensor(A, format=format)
    for dim in (0, 1, -1):
        values, indices = a.max(dim)
        check(values, A.amax(dim))
        check(A.gather(dim, indices.unsqueeze(dim)).squeeze(dim), A.amax(dim))
        assert a.min(dim, keepdim=True).values.shape == A.amin(dim, keepdim=True).shape
    check(a.max(), A.max())
    check(torch.min(a), A.min())
    check(a.argmax(), A.argmax())
    check(A.flatten()[a.argmin()], A.min())
    check(a.count_nonzero(1), A.count_nonzero(1))
    check(torch.count_nonzero(a), A.count_nonzero())


@pytest.mark.parametrize("order", [0, 1, 2, 3.5, math.inf, -math.inf])
def test_vector_norms(order: float) -> None:
    for dim in DIMS:
        found = torch.linalg.vector_norm(tulle.tensor(A), order, dim)
        check(found, torch.linalg.vector_norm(A, order, dim))


@pytest.mark.parametrize("order", [None, "fro", 1, -1, math.inf, -math.inf])
def test_matrix_norms(order: Any) -> None:
    check(torch.linalg.norm(tulle.tensor(A), order), torch.linalg.norm(A, order))
    if order is not None:
        check(torch.linalg.matrix_norm(tulle.tensor(A), order), torch.linalg.matrix_norm(A, order))
    with pytest.raises(tulle.UserError, match="to_dense"):
        torch.linalg.matrix_norm(tulle.tensor(A), 2)


def test_normalize() -> None:
    a = tulle.tensor(A, format="hyb(2,2)")
    for dim in (0, 1):
        found = torch.nn.functional.normalize(a, dim=dim)
        check(found, torch.nn.functional.normalize(A, dim=dim))
        assert found.format == "hyb(2,2)"


def test_types() -> None:
    integers = (A * 4).int()
    a = tulle.tensor(integers)
    assert_equal(a.sum(1, dtype=torch.float64), integers.sum(1, dtype=torch.float64))
    assert_equal(torch.mean(a, 1, dtype=torch.float32), integers.mean(1, dtype=torch.float32))
    assert_equal(torch.sparse.sum(a, 0, dtype=torch.int32), integers.sum(0, dtype=torch.int32))
    assert_equal(a.any(1), integers.any(1))
    assert_equal(torch.all(a > 0, 1), (integers > 0).all(1))
    half = tulle.tensor((A * 100).half())
    check(half.norm(), (A * 100).half().norm())
    check(half.var(1), (A * 100).half().var(1))
    softmax = torch.sparse.softmax(half, 1, dtype=torch.float32)
    assert softmax.dtype == torch.float32
    with pytest.raises(tulle.UserError, match="convert it with float"):
        a.var(1)


def test_corrections() -> None:
    a = tulle.tensor(A)
    check(a.var(1, correction=0), A.var(1, correction=0))
    check(torch.std(a, 1, unbiased=False), torch.std(A, 1, unbiased=False))
    check(torch.var(a, False), torch.var(A, False))
    for function in (torch.var_mean, torch.std_mean):
        for found, expected in zip(function(a, 1), function(A, 1), strict=True):
            check(found, expected)
    check(torch.special.logsumexp(a, 1), torch.special.logsumexp(A, 1))


def test_nan() -> None:
    x = A.clone()
    x[3, 2] = torch.nan
    a = tulle.tensor(x)
    for name in ("nansum", "nanmean", "var", "norm", "any", "all"):
        check(getattr(a, name)(dim=1), getattr(x, name)(dim=1))


def test_sparse_results_of_higher_ranks() -> None:
    cube = torch.stack([A, A * 2])
    cube[0, 1] = 0
    a = tulle.tensor(cube, format="csf")
    for name in ("sum", "mean", "var", "norm"):
        for dim in (0, 2, (0, 2)):
            check(getattr(a, name)(dim=dim), getattr(cube, name)(dim=dim))
            found = getattr(a, name)(dim=dim, keepdim=True)
            check(found, getattr(cube, name)(dim=dim, keepdim=True))
    assert isinstance(a.sum(2, keepdim=True), tulle.SparseTensor)
    check(a.argmax(), cube.argmax())


def test_gradient_of_norms_of_empty_rows_is_zero() -> None:
    a = tulle.tensor(A)
    a.values().requires_grad_()
    x = A.clone().requires_grad_()
    a.norm(dim=1).sum().backward()
    x.norm(dim=1).sum().backward()
    assert x.grad is not None
    check(a.with_values(a.values().grad), x.grad)


def test_gradient_of_deviations_of_equal_elements_is_zero() -> None:
    equal = torch.ones(3, 4, dtype=torch.float64)
    equal[1] = torch.arange(1, 5)
    for name in ("std", "std_mean"):
        values = tulle.tensor(equal).values().clone().requires_grad_()
        whole = equal.clone().requires_grad_()
        found = getattr(torch, name)(tulle.tensor(equal).with_values(values), 1)
        expected = getattr(torch, name)(whole, 1)
        if name == "std_mean":
            found, expected = sum(found), sum(expected)
        found.sum().backward()
        expected.sum().backward()
        check(values.grad.reshape(3, 4), whole.grad)


@pytest.mark.parametrize("name", ["any", "all"])
def test_reductions_over_nothing(name: str) -> None:
    for shape in ((0, 4), (4, 0)):
        x = torch.zeros(shape)
        for dim in (0, 1):
            assert_equal(getattr(tulle.tensor(x), name)(dim), getattr(x, name)(dim))
