"""Gradients that read a sparse operand in another storage order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import random_dense, random_sparse
from torch import Tensor

import tulle
from tulle.programs import reordering

ROWS, COLUMNS, WIDTH = 12, 9, 3
FORMATS = ["csr", "csc", "coo", "dcsr", "dcsc", "ell(9)", "bitmap", "bsr(2,3)", "dia", "hyb(2,2)"]
BY_ROW = ["csr", "coo", "dcsr", "ell(9)", "bitmap"]
PLAIN = [*BY_ROW, "csc", "dcsc"]
MAXIMUM = "M[i,k] = max(j in A[i,j], X[j,k], empty=0)"

Function = Callable[[Any, Tensor], Tensor]

# Functions of a sparse matrix and a dense one that has its columns.
FUNCTIONS: dict[str, Function] = {
    "A @ x": lambda a, x: a @ x,
    "A.T @ y": lambda a, x: a.T @ torch.cat([x, x[: ROWS - COLUMNS]]),
    "two statements": lambda a, x: tulle.compute(
        "T[i,k] = relu(sum(j, A[i,j] * X[j,k])); C[i,k] = T[i,k] * A[i,j] * X[j,k]", A=a, X=x
    ),
    "max": lambda a, x: tulle.compute(MAXIMUM, A=a, X=x),
}


@pytest.fixture(autouse=True)
def small_matrices_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reordering, "FEWEST_ENTRIES", 1)


def matrix(format: str) -> tulle.SparseTensor:
    return tulle.tensor(random_sparse(ROWS, COLUMNS)).to(format=format)


def gradients(a: tulle.SparseTensor, values: Tensor, x: Tensor, function: Function) -> Any:
    found = function(a.with_values(values), x).square().sum()
    leaves = [leaf for leaf in (values, x) if leaf.requires_grad]
    return torch.autograd.grad(found, leaves)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name: str, format: str, learned: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x = random_dense(COLUMNS, WIDTH, seed=1).requires_grad_()
    values = matrix(format).values().clone().requires_grad_(learned)
    monkeypatch.setattr(reordering, "FEWEST_ENTRIES", 10**9)
    expected = gradients(matrix(format), values, x, FUNCTIONS[name])
    monkeypatch.setattr(reordering, "FEWEST_ENTRIES", 1)
    a = matrix(format)
    for _ in range(3):
        for one, other in zip(gradients(a, values, x, FUNCTIONS[name]), expected, strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("format", BY_ROW)
def test_the_order_stays_with_the_pattern(format: str) -> None:
    a, x = matrix(format), random_dense(COLUMNS, WIDTH, seed=1).requires_grad_()
    (a @ x).sum().backward()
    name = "entries as csc"
    order = a.pattern.derived[name]
    assert a.derived()[name] > 0
    (a.with_values(a.values() * 2) @ x).sum().backward()
    assert a.pattern.derived[name] is order
    a.free_derived()
    x.grad = None
    (a @ x).sum().backward()
    torch.testing.assert_close(x.grad, a.to_dense().T @ torch.ones(ROWS, WIDTH).double())


def test_values_that_change_in_place() -> None:
    a, x = matrix("csr"), random_dense(COLUMNS, WIDTH, seed=1).requires_grad_()
    for factor in (1, 2, 3):
        a.values().mul_(factor)
        (gradient,) = torch.autograd.grad((a @ x).sum(), x)
        torch.testing.assert_close(gradient, a.to_dense().T @ torch.ones(ROWS, WIDTH).double())


@pytest.mark.parametrize("format", PLAIN)
def test_second_derivatives(format: str) -> None:
    a, x = matrix(format), random_dense(COLUMNS, WIDTH, seed=1).requires_grad_()
    values = a.values().clone().requires_grad_()
    held = torch.ones(values.numel(), dtype=torch.bool)
    if format in ("ell(9)", "bitmap"):  # unused slots have no gradient
        held = a.with_values(torch.ones_like(values)).values() * a.values() != 0

    def function(values: Tensor, x: Tensor) -> Tensor:
        return (a.with_values(torch.where(held, values, 0)) @ x).square()

    torch.autograd.gradcheck(function, (values, x))
    torch.autograd.gradgradcheck(function, (values, x))


def test_duplicates_keep_their_order() -> None:
    """A conversion would add them up."""
    indices = torch.tensor([[0, 0, 1, 2], [1, 1, 0, 2]])
    coo = torch.sparse_coo_tensor(indices, torch.arange(1.0, 5.0), (3, 3))
    a = tulle.tensor(coo)
    x = torch.rand(3, 2, requires_grad=True)
    (a @ x).sum().backward()
    torch.testing.assert_close(x.grad, coo.to_dense().T @ torch.ones(3, 2))


# ---- a block for each entry ----------------------------------------------------------------------

BLOCKS = {  # statements whose result E has a matrix and a dense block for each of its entries
    "i,j,h": "E[i,j,h] = within(A[i,j], T[i,h] * S[j,h])",
    "h,i,j": "E[h,i,j] = within(A[i,j], T[i,h] * S[j,h])",
    "j,h,i": "E[j,h,i] = within(A[i,j], T[i,h] * S[j,h])",
}
BLOCK_FORMATS = ["csr", "csc", "dcsr", "coo", "ell(9)"]


def weights(a: tulle.SparseTensor, indices: str, t: Tensor, s: Tensor) -> tulle.SparseTensor:
    return tulle.compute(BLOCKS[indices], A=a, T=t, S=s)


@pytest.mark.parametrize("format", BLOCK_FORMATS)
@pytest.mark.parametrize("indices", BLOCKS)
def test_gradients_with_blocks(indices: str, format: str) -> None:
    a, heads = matrix(format), 2
    leaves = [
        random_dense(*shape, seed=seed).requires_grad_()
        for seed, shape in enumerate([(ROWS, heads), (COLUMNS, heads), (COLUMNS, heads, WIDTH)])
    ]
    t, s, v = leaves
    mask = a.to_dense() != 0
    expected = torch.einsum("ijh,jhd->ihd", mask[..., None] * t[:, None] * s, v)
    wanted = torch.autograd.grad(expected.square().sum(), leaves)
    for _ in range(2):
        e = weights(a, indices, t, s)
        found = tulle.compute(f"O[i,h,d] = E[{indices}] * V[j,h,d]", E=e, V=v)
        torch.testing.assert_close(found, expected)
        for one, other in zip(
            torch.autograd.grad(found.square().sum(), leaves), wanted, strict=True
        ):
            torch.testing.assert_close(one, other)


def test_blocks_share_the_order_of_their_matrix() -> None:
    a, v = matrix("csr"), random_dense(COLUMNS, 2, WIDTH).requires_grad_()
    (a @ v[:, 0]).sum().backward()
    order = a.pattern.derived["entries as csc"]
    e = weights(a, "i,j,h", random_dense(ROWS, 2), random_dense(COLUMNS, 2))
    tulle.compute("O[i,h,d] = E[i,j,h] * V[j,h,d]", E=e, V=v).sum().backward()
    (own,) = (one for one in e.pattern.derived.values() if isinstance(one, reordering.Reordered))
    assert own.slots is order.slots


def test_results_on_the_same_arrays_have_one_pattern() -> None:
    """The pattern of a result keeps what was derived from it for the next call."""
    a, t, s = matrix("csr"), random_dense(ROWS, 2), random_dense(COLUMNS, 2)
    first = weights(a, "i,j,h", t, s)
    assert weights(a, "i,j,h", t, s).pattern is first.pattern
    named = "W[r,c,w] = within(A[r,c], T[r,w] * S[c,w])"
    assert tulle.compute(named, A=a, T=t, S=s).pattern is first.pattern
    assert first.softmax(1).pattern is first.pattern
    assert (first * 2).pattern is first.pattern
    wider = weights(a, "i,j,h", random_dense(ROWS, 3), random_dense(COLUMNS, 3))
    assert wider.pattern is not first.pattern
    assert wider.shape == (ROWS, COLUMNS, 3)
