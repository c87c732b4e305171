"""Joining, reshaping, repeating and turning sparse tensors, their diagonals: against dense ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import assert_equal, dense, random_sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck

import tulle

FORMATS = [
    *("csr", "csc", "coo", "dcsr", "bsr(2,3)", "bsc(3,2)", "ell(6)", "dell(6)", "pieces(2)"),
    *("dia", "ragged", "bitmap", "sr-bcrs(2,4)", "hyb(2,2)", "dia-csr(-1,1)", "bsr-csr(2,2)"),
    *("(i,j) -> (j: dense, i: dense)", "(i,j) -> (j: compressed nonunique, i: singleton)"),
]
BATCH_FORMATS = ["csf", "coo", "csr", "bsr(2,2)", "dia", "ell(6)", "bitmap", "hyb(2,2)"]
DATA = random_sparse(8, 6, density=0.4)

Change = Callable[[Any], Any]

CHANGES: dict[str, Change] = {
    "cat": lambda a: torch.cat([a, a]),
    "cat of columns": lambda a: torch.cat((a, a), dim=-1),
    "concat": lambda a: torch.concat([a[:3], a[3:], a]),
    "concatenate": lambda a: torch.concatenate([a, a], 1),
    "hstack": lambda a: torch.hstack([a, a]),
    "vstack": lambda a: torch.vstack([a, a[0]]),
    "dstack": lambda a: torch.dstack([a, a]),
    "stack": lambda a: torch.stack([a, a]),
    "stack inside": lambda a: torch.stack([a, a, a], 1),
    "stack last": lambda a: torch.stack([a, a], -1),
    "block_diag": lambda a: torch.block_diag(a, a[:2], a[3]),
    "kron": lambda a: torch.kron(a[:3], a[:, :2]),
    "kron of ranks": lambda a: torch.kron(a[0], a),
    "reshape": lambda a: a.reshape(4, 12),
    "reshape to a vector": lambda a: torch.reshape(a, (-1,)),
    "reshape of a dimension": lambda a: a.reshape(2, -1, 6),
    "reshape_as": lambda a: a.reshape_as(a.T),
    "view": lambda a: a.view(16, 3),
    "flatten": lambda a: torch.flatten(a),
    "unflatten": lambda a: torch.unflatten(a, 1, (3, -1)),
    "ravel": lambda a: torch.ravel(a),
    "unsqueeze": lambda a: torch.unsqueeze(a, 1),
    "squeeze": lambda a: torch.squeeze(a[None, :, 2:3]),
    "squeeze of a dimension": lambda a: a[None, :, 2:3].squeeze((0, 1)),
    "expand": lambda a: a[:, 1:2].expand(-1, 4),
    "expand to more dimensions": lambda a: a.expand(3, 8, 6),
    "expand_as": lambda a: a[:1].expand_as(a),
    "broadcast_to": lambda a: torch.broadcast_to(a[None], (2, 8, 6)),
    "repeat": lambda a: a.repeat(2, 3),
    "repeat along more dimensions": lambda a: a.repeat(2, 1, 2),
    "repeat never": lambda a: a.repeat(0, 2),
    "tile": lambda a: torch.tile(a, (3,)),
    "transpose": lambda a: a.mT,
    "adjoint": lambda a: torch.adjoint(a),
    "swapaxes": lambda a: torch.swapaxes(a, 0, -1),
    "movedim": lambda a: torch.movedim(a, 0, 1),
    "roll": lambda a: torch.roll(a, (2, -1), (0, 1)),
    "roll of a dimension": lambda a: a.roll(9, 1),
    "roll of all": lambda a: a.roll(17),
    "flip": lambda a: torch.flip(a, (0, 1)),
    "fliplr": lambda a: torch.fliplr(a),
    "flipud": lambda a: a.flipud(),
    "rot90": lambda a: torch.rot90(a),
    "rot90 back": lambda a: a.rot90(-1, (0, 1)),
    "rot90 twice": lambda a: a.rot90(2),
    "diagonal": lambda a: torch.diagonal(a),
    "diagonal above": lambda a: a.diagonal(2, -1, 0),
    "diagonal outside": lambda a: a.diagonal(6),
    "diag": lambda a: torch.diag(a, -3),
    "diag of a vector": lambda a: torch.diag(a[2], 1),
    "tril": lambda a: torch.tril(a),
    "tril above": lambda a: a.tril(2),
    "triu": lambda a: torch.triu(a, -1),
    "trace": lambda a: torch.trace(a),
}


def check(found: Any, expected: Tensor) -> None:
    """Asserts equal elements, and a valid structure."""
    assert_equal(found, expected)
    if isinstance(found, tulle.SparseTensor):
        found.pattern.validate("the result", found.values())


@pytest.mark.parametrize("format", FORMATS)
def test_changes(format: str) -> None:
    tensor = tulle.tensor(DATA, format=format)
    for change in CHANGES.values():
        check(change(tensor), change(DATA))


@pytest.mark.parametrize("dtype", [torch.float16, torch.int32, torch.bool])
def test_types_are_kept(dtype: torch.dtype) -> None:
    data = DATA.to(dtype)
    for format in ("csr", "coo", "bsr(2,3)"):
        tensor = tulle.tensor(data, format=format)
        for name, change in CHANGES.items():
            if name == "trace" and dtype == torch.bool:
                continue
            # torch 2.11 has no trace of float16
            expected = data.diagonal().sum() if name == "trace" else change(data)
            check(change(tensor), expected)


@pytest.mark.parametrize("format", BATCH_FORMATS)
def test_higher_ranks(format: str) -> None:
    changes: list[Change] = [
        lambda a: torch.cat([a, a], 1),
        lambda a: torch.cat([a, a], -1),
        lambda a: torch.stack([a, a], 2),
        lambda a: a.flatten(0, 1),
        lambda a: a.flatten(-2),
        lambda a: a.unflatten(-1, (2, 3)),
        lambda a: a.reshape(-1, 2),
        lambda a: a.movedim((0, 1), (1, 2)),
        lambda a: a.moveaxis(0, -1),
        lambda a: a.mT,
        lambda a: a.swapdims(0, 1),
        lambda a: a.repeat(2, 1, 1, 2),
        lambda a: a.roll((1, 2), (0, -1)),
        lambda a: a.roll(-5),
        lambda a: a.flip(0, -1),
        lambda a: a.diagonal(1, -2, -1),
        lambda a: a.diagonal(0, 0, 2),
        lambda a: a.tril(-1),
        lambda a: a.triu(1),
        lambda a: torch.diag_embed(a[0]),
        lambda a: torch.diag_embed(a[0], 1, 0, 2),
    ]
    for shape in [(3, 4, 6), (2, 3, 4, 6)]:
        data = random_sparse(*shape, density=0.3)
        tensor = tulle.tensor(data, format=format)
        for change in changes:
            check(change(tensor), change(data))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0), (1, 1)])
def test_small_and_empty_tensors(shape: tuple[int, int]) -> None:
    data = random_sparse(*shape, density=1)
    for format in ("csr", "csc", "coo", "dcsr", "bsr(2,3)", "dia", "bitmap"):
        tensor = tulle.tensor(data, format=format)
        for change in [
            lambda a: torch.cat([a, a], 1),
            lambda a: torch.stack([a, a]),
            lambda a: torch.kron(a, a),
            lambda a: torch.block_diag(a, a),
            lambda a: a.reshape(-1),
            lambda a: a.flip(0),
            lambda a: a.roll(1, 0),
            lambda a: a.roll(3),
            lambda a: a.repeat(2, 2),
            lambda a: a.diagonal(),
            lambda a: a.tril(),
            lambda a: a.trace(),
        ]:
            check(change(tensor), change(data))


@settings(max_examples=100, deadline=None)
@given(st.data(), st.sampled_from(["csr", "csc", "coo", "csf", "bitmap"]))
def test_any_shapes(drawn: Any, format: str) -> None:
    sizes = st.sampled_from([1, 2, 3, 4])
    shape = drawn.draw(st.lists(sizes, min_size=2, max_size=4))
    data = random_sparse(*shape, density=0.5)
    tensor = tulle.tensor(data, format=format)
    factors = [n for size in shape for n in ((2, 2) if size == 4 else (size,))]
    order = drawn.draw(st.permutations(factors))
    cut = drawn.draw(st.integers(0, len(order) - 1))
    wanted = [*order[:cut], torch.Size(order[cut:]).numel()]
    check(tensor.reshape(wanted), data.reshape(wanted))
    dim = drawn.draw(st.integers(-len(shape), len(shape) - 1))
    pieces = tensor.split(drawn.draw(sizes), dim)
    check(torch.cat(pieces, dim), data)
    check(torch.stack(tensor.unbind(dim), dim), data)
    shift = drawn.draw(st.integers(-9, 9))
    check(tensor.roll(shift, dim), data.roll(shift, dim))
    check(tensor.tril(shift), data.tril(shift))


# ---- operands of several kinds -----------------------------------------------------------------


def test_operands_in_several_formats_and_types() -> None:
    other = random_sparse(8, 6, seed=1).float()
    for first in FORMATS:
        for second in ("csr", "ell(6)", "hyb(2,2)"):
            a, b = tulle.tensor(DATA, format=first), tulle.tensor(other, format=second)
            check(torch.cat([a, b]), torch.cat([DATA, other]))
            check(torch.stack([b, a]), torch.stack([other, DATA]))
    wide = tulle.tensor(DATA, index_dtype=torch.int64)
    joined = torch.cat([tulle.tensor(DATA), wide, wide[:0]])
    assert joined.index_dtype == torch.int64
    check(joined, torch.cat([DATA, DATA]))
    integers = tulle.tensor(other.int())
    check(torch.cat([integers, b]), torch.cat([other.int(), other]))
    check(torch.kron(integers, b), torch.kron(other.int(), other))


@pytest.mark.parametrize(
    ("format", "change", "expected"),
    [
        ("csc", "cat", "csc"),
        ("coo", "cat of columns", "coo"),
        ("bsr(2,3)", "cat", "bsr(2,3)"),
        ("bsr(3,3)", "cat", "csr"),
        ("ell(6)", "cat", "ell(6)"),
        ("ell(6)", "cat of columns", "csr"),
        ("csr", "stack", "csr"),
        ("coo", "stack", "coo"),
        ("csr", "reshape", "csr"),
        ("coo", "reshape", "coo"),
        ("dcsr", "unflatten", "csf"),
        ("dia", "tril", "dia"),
        ("hyb(2,2)", "triu", "hyb(2,2)"),
        ("hyb(2,2)", "flip", "csr"),
        ("bsr(2,3)", "repeat", "bsr(2,3)"),
        ("csr", "diagonal", "coo"),
    ],
)
def test_formats_of_results(format: str, change: str, expected: str) -> None:
    assert CHANGES[change](tulle.tensor(DATA, format=format)).format == expected


# ---- gradients ---------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_gradients(format: str) -> None:
    tensor = tulle.tensor(DATA, format=format)
    values = tensor.values().clone().requires_grad_()
    names = ["cat", "stack", "kron", "reshape", "expand", "roll", "diagonal", "tril", "trace"]

    def changes(values: Tensor) -> tuple[Tensor, ...]:
        own = tensor.with_values(values)
        return tuple(dense(CHANGES[name](own)) for name in names)

    assert gradcheck(changes, values, fast_mode=True)


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: torch.cat([a, a.to_dense()]), "tensor 1 is not a sparse tensor"),
        (lambda a: torch.cat([a, a.T]), "sizes must be equal except in dimension 0"),
        (lambda a: torch.stack([a, a.T]), "shapes must be equal"),
        (lambda a: torch.block_diag(a, a[None]), "expected matrices"),
        (lambda a: a.reshape(5, -1), "does not fit"),
        (lambda a: a.reshape(-1, -1), "negative sizes"),
        (lambda a: a.reshape(()), "at least one dimension"),
        (lambda a: a.unflatten(0, (3, 3)), "do not fit dimension 0 of size 8"),
        (lambda a: a.flatten(1, 0), "behind end_dim"),
        (lambda a: a.expand(9, 6), "only dimensions of size 1"),
        (lambda a: a.repeat(2), "a count for each of 2"),
        (lambda a: a.roll((1, 2), 0), "2 shifts do not fit 1"),
        (lambda a: a.flip(0, 0), "twice"),
        (lambda a: a.movedim(0, 5), "no dimension 5"),
        (lambda a: a.diagonal(0, 1, 1), "the same"),
        (lambda a: a[0].tril(), "rank 1"),
        (lambda a: a[0].mT, "rank 1"),
        (lambda a: a[None].trace(), "expected a matrix"),
        (lambda a: a[None].diag(), "vector or a matrix"),
    ],
)
def test_refusals(change: Change, message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        change(tulle.tensor(DATA))


def test_misspelt_attributes() -> None:
    with pytest.raises(AttributeError, match="did you mean 'unsqueeze'"):
        tulle.tensor(DATA).unsqeeze(0)


@pytest.mark.parametrize(
    "format", ["csr", "csf", "coo", "(i,j,k) -> (k: dense, i: dense, j: compressed)"]
)
def test_changes_of_rank_three(format: str) -> None:
    data, other = random_sparse(3, 4, 5), random_sparse(3, 4, 5, seed=1)
    a, b = tulle.tensor(data, format=format), tulle.tensor(other, format=format)
    for dims in [(), (0,), (1,), (2,), (0, 2), (2, 1), (0, 1, 2)]:
        assert_equal(a.flip(dims), data.flip(dims))
    for dim in range(3):
        found = torch.cat([a, b, a], dim)
        assert_equal(found, torch.cat([data, other, data], dim))
        found.pattern.validate("the result", found.values())
        assert_equal(torch.stack([a, b], dim), torch.stack([data, other], dim))
    product = torch.kron(a, b)
    assert_equal(product, torch.kron(data, other))
    product.pattern.validate("the result", product.values())
