"""Gradients of programs with sparse intermediates, which run in stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import random_dense, random_sparse
from torch import Tensor

import tulle
from tulle.programs import reordering, stages
from tulle.programs.program import statement_program

ROWS, COLUMNS, WIDTH, HEADS = 9, 8, 3, 2
FORMATS = ["csr", "csc", "coo", "dcsr", "ell(8)", "bitmap", "bsr(3,2)", "hyb(2,2)", "dia"]
SLOPE = 0.2


def mask(a: tulle.SparseTensor) -> Tensor:
    """Where there are entries: those of blocks and diagonals may be 0."""
    return a.with_values(torch.ones_like(a.values())).to_dense() != 0


def weights(scores: Tensor, held: Tensor) -> Tensor:
    """The softmax over the second dimension of the entries that are held."""
    return scores.masked_fill(~held, -torch.inf).softmax(1).masked_fill(~held, 0).nan_to_num()


def attention(a: tulle.SparseTensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return weights(a.to_dense() * (q @ k.T), mask(a)) @ v


def heads(a: tulle.SparseTensor, t: Tensor, s: Tensor, v: Tensor) -> Tensor:
    scores = torch.nn.functional.leaky_relu(t[:, None] + s, SLOPE)
    return torch.einsum("ijh,jhd->ihd", weights(scores, mask(a)[..., None]), v)


def layers(a: tulle.SparseTensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (a.to_dense() * torch.tanh(q @ k.T)).T @ torch.tanh(attention(a, q, k, v))


Sizes = tuple[tuple[int, ...], ...]
SCORES = "S[i,j] = A[i,j] * Q[i,d] * K[j,d]"
MATRICES: Sizes = ((ROWS, WIDTH), (COLUMNS, WIDTH), (COLUMNS, WIDTH))
# The statements, the same computation in torch, the names and the sizes of the dense operands.
PROGRAMS: dict[str, tuple[str, Callable[..., Tensor], str, Sizes]] = {
    "attention": (
        f"{SCORES}; O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]",
        attention,
        "QKV",
        MATRICES,
    ),
    "heads": (
        "E[i,j,h] = within(A[i,j], T[i,h] + S[j,h]);"
        f"O[i,h,d] = softmax(j in A[i,j], max(E[i,j,h], {SLOPE} * E[i,j,h])) * V[j,h,d]",
        heads,
        "TSV",
        ((ROWS, HEADS), (COLUMNS, HEADS), (COLUMNS, HEADS, WIDTH)),
    ),
    "layers": (
        f"{SCORES}; H[i,d] = tanh(sum(j, softmax(j in A[i,j], S[i,j]) * V[j,d]));"
        "W[i,j] = A[i,j] * tanh(sum(d, Q[i,d] * K[j,d])); O[j,d] = W[i,j] * H[i,d]",
        layers,
        "QKV",
        MATRICES,
    ),
}


@pytest.fixture(autouse=True)
def small_matrices_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reordering, "FEWEST_ENTRIES", 1)


def matrix(format: str) -> tulle.SparseTensor:
    return tulle.tensor(random_sparse(ROWS, COLUMNS, density=0.4)).to(format=format)


def leaves_of(sizes: Sizes) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    leaves = [torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes]
    return [leaf.requires_grad_() for leaf in leaves]


def shown(text: str, **operands: Any) -> str:
    found: str = tulle.explain(text, **operands)["gradients"]
    return found


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name: str, format: str) -> None:
    text, function, names, sizes = PROGRAMS[name]
    a, leaves = matrix(format), leaves_of(sizes)
    wanted = torch.autograd.grad(function(a, *leaves).square().sum(), leaves)
    for _ in range(3):  # the general route, the first pass of the warm one, a warm pass
        found = tulle.compute(text, A=a, **dict(zip(names, leaves, strict=True)))
        for one, other in zip(
            torch.autograd.grad(found.square().sum(), leaves), wanted, strict=True
        ):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_run_in_stages(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, _, names, sizes = PROGRAMS[name]
    given = dict(zip(names, leaves_of(sizes), strict=True))
    a = matrix("csr")
    assert "in stages    " in shown(text, A=a, **given)
    monkeypatch.setattr(reordering, "FEWEST_ENTRIES", 10**9)
    assert "in stages    " not in shown(text, A=a, **given)


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name: str) -> None:
    text, _, names, sizes = PROGRAMS[name]
    a, leaves = matrix("csr"), leaves_of(sizes)

    def function(*leaves: Tensor) -> Tensor:
        found: Tensor = tulle.compute(text, A=a, **dict(zip(names, leaves, strict=True)))
        return found

    torch.autograd.gradcheck(function, leaves)
    torch.autograd.gradgradcheck(function, leaves)


def test_learned_values_and_equal_bits() -> None:
    text, _, names, sizes = PROGRAMS["attention"]
    a, leaves = matrix("csr"), leaves_of(sizes)
    values = a.values().clone().requires_grad_()
    given = dict(zip(names, leaves, strict=True))

    def gradients() -> tuple[Tensor, ...]:
        found = tulle.compute(text, A=a.with_values(values), **given)
        return torch.autograd.grad(found.square().sum(), [values, *leaves])

    dense = a.to_dense().requires_grad_()
    scores = dense * (given["Q"] @ given["K"].T)
    total = (weights(scores, mask(a)) @ given["V"]).square().sum()
    wanted, *others = torch.autograd.grad(total, [dense, *leaves])
    first = gradients()
    for one, other in zip(first, [wanted[mask(a)], *others], strict=True):
        torch.testing.assert_close(one, other)
    for _ in range(2):
        assert all(map(torch.equal, gradients(), first))


def test_large_dense_intermediates_stay_inside_of_a_program() -> None:
    """D has more elements than the operands, so no stage passes it on."""
    text = "D[i,j] = x[i] * y[j]\nS[i,j] = A[i,j] * D[i,j]\nT[i,j] = S[i,j] * D[i,j]\nu[i] = T[i,j]"
    n = 60
    a = tulle.eye(n, dtype=torch.float64)
    x, y = random_dense(n), random_dense(n)
    program = statement_program(text)
    assert stages.stages_of(program, ("A", "x", "y"), [a, x, y]) is None
    small = tulle.tensor(random_sparse(4, 4, density=1))
    assert stages.stages_of(program, ("A", "x", "y"), [small, x[:4], y[:4]]) is not None


def test_values_in_order_are_kept_for_constants_only() -> None:
    """What the backward pass computes is freed with it."""
    text, _, names, sizes = PROGRAMS["heads"]
    a, leaves = matrix("csr"), leaves_of(sizes)
    for _ in range(3):
        found = tulle.compute(text, A=a, **dict(zip(names, leaves, strict=True)))
        found.sum().backward()
    patterns = [a.pattern, *a.pattern._sharing.values()]
    orders = [
        one
        for pattern in patterns
        for one in pattern.derived.values()
        if isinstance(one, reordering.Reordered)
    ]
    assert orders and all(one._values is None for one in orders)


def test_dense_operands_of_other_sizes() -> None:
    """The sizes of E depend on T, those of A do not."""
    text, function, names, _ = PROGRAMS["heads"]
    a = matrix("csr")
    for count in (1, 1, 1, 4, 4, 2):
        leaves = leaves_of(((ROWS, count), (COLUMNS, count), (COLUMNS, count, WIDTH)))
        wanted = torch.autograd.grad(function(a, *leaves).square().sum(), leaves)
        found = tulle.compute(text, A=a, **dict(zip(names, leaves, strict=True)))
        for one, other in zip(
            torch.autograd.grad(found.square().sum(), leaves), wanted, strict=True
        ):
            torch.testing.assert_close(one, other)
