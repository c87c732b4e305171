"""Changes of sparse tensors in place, and products and choices with masks."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import assert_equal, random_dense, random_sparse
from torch import Tensor

import tulle

FORMATS = ["csr", "coo", "bsr(2,3)", "ell(6)", "dia", "hyb(2,2)"]
A = random_sparse(5, 6) / 4
B = random_sparse(5, 6, seed=1) / 4
Function = Callable[[Any], Any]

CHANGES: dict[str, Function] = {
    "mul_": lambda a: a.mul_(2),
    "div_": lambda a: a.div_(4),
    "neg_": lambda a: a.neg_(),
    "abs_": lambda a: a.neg_().abs_(),
    "clamp_": lambda a: a.clamp_(0, 0.5),
    "sin_": lambda a: a.sin_(),
    "pow_": lambda a: a.pow_(2),
    "zero_": lambda a: a.zero_(),
    "fill_": lambda a: a.fill_(0),
    "column": lambda a: a.mul_(torch.arange(5.0)[:, None]),
    "add_": lambda a: a.add_(a, alpha=2),
    "sub_": lambda a: a.sub_(a * 0.5),
    "masked_fill_": lambda a: a.masked_fill_(torch.arange(6) > 2, 0),
    "sparse masked_fill_": lambda a: a.masked_fill_(a > 0.5, 7.0),
    "gt_": lambda a: a.gt_(0.5),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", CHANGES)
def test_changes(name: str, format: str) -> None:
    a, expected = tulle.tensor(A, format=format), A.clone()
    pattern, values = a.pattern, a.values()
    assert CHANGES[name](a) is a
    assert a.pattern is pattern
    assert a.values() is values
    assert_equal(a, CHANGES[name](expected))


def test_augmented_operators() -> None:
    a = b = tulle.tensor(A)
    a *= 2
    a /= 4
    a += b * 3
    a -= b
    a **= 2
    assert a is b
    assert_equal(a, ((A * 2 / 4) * 4 - (A * 2 / 4) * 4) ** 2)
    mask = tulle.tensor(A) > 0
    mask &= tulle.tensor(B) > 0
    assert_equal(mask, (A > 0) & (B > 0))


def test_other_formats_with_the_same_entries() -> None:
    a = tulle.tensor(A)
    a.add_(tulle.tensor(A, format="csc"))
    assert_equal(a, A * 2)
    a.copy_(tulle.tensor(A, format="coo"))
    assert_equal(a, A)
    a.mul_(tulle.tensor(B, format="csc"))
    assert_equal(a, A * B)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.add_(1), r"add_: .* Write A = A \+ B"),
        (lambda a: a.add_(B), "has values where the tensor has no entries"),
        (lambda a: a.exp_(), r"A = A.exp\(...\), or change .* A.values\(\).exp_\(...\)"),
        (lambda a: a.fill_(2), r"A.values\(\).fill_\(value\)"),
        (lambda a: a.copy_(B), "copy_: expected a sparse tensor of the shape"),
        (lambda a: a.masked_fill_(B > 0, 1.0), "masked_fill_: the result has values"),
        (lambda a: a.mul_(torch.ones(3, 5, 6)), "does not fit into a tensor of the shape"),
        (lambda a: a.eq_(0), "has values where"),
    ],
)
def test_changes_of_the_pattern_are_refused(change: Function, message: str) -> None:
    a = tulle.tensor(A)
    with pytest.raises(tulle.UserError, match=message):
        change(a)
    assert_equal(a, A)


@pytest.mark.parametrize("format", FORMATS)
def test_sums_may_add_entries(format: str) -> None:
    a, b = tulle.tensor(A, format=format), tulle.tensor(B, format="csc")
    same = a
    a += b
    assert a is same
    assert a.format == tulle.Format(format)
    assert_equal(a, A + B)
    assert_equal(a.sub_(other=tulle.tensor(B[:1]), alpha=3), A + B - 3 * B[:1])
    values = a.values()
    a.add_(b)
    assert a.values() is values  # it has the entries of B
    shared = tulle.tensor(A)
    twin = shared.T
    shared += b
    assert_equal(twin, A.T)


def test_gradients_of_sums_that_add_entries() -> None:
    a, b = tulle.tensor(A).requires_grad_(), tulle.tensor(B).requires_grad_()
    with pytest.raises(tulle.UserError, match=r"requires a gradient.*Write A = A.add\(...\)"):
        a.add_(b)
    c = a * 2
    c += b * 3
    weights = torch.arange(30, dtype=A.dtype).reshape(5, 6)
    (c.to_dense() * weights).sum().backward()
    assert_equal(a.with_values(a.grad), 2 * weights * (A != 0))
    assert_equal(b.with_values(b.grad), 3 * weights * (B != 0))
    with pytest.raises(tulle.UserError, match=r"the type torch.float64 does not fit"):
        tulle.tensor(A.int()).add_(b.detach())


DENSE_CHANGES: dict[str, Callable[[Any, Tensor], Any]] = {
    "add_": lambda a, x: x.add_(a, alpha=2),
    "sub_": lambda a, x: x.sub_(a),
    "mul_": lambda a, x: x.mul_(a),
    "copy_": lambda a, x: x.copy_(a),
    "masked_fill_": lambda a, x: x.masked_fill_(a > 0.5, 7),
    "clamp_": lambda a, x: x.clamp_(max=a),
    "addmm_": lambda a, x: x.addmm_(a, a.T @ torch.ones(5, 6, dtype=A.dtype), beta=2),
    "+=": lambda a, x: operator.iadd(x, a),
    "**=": lambda a, x: operator.ipow(x, a),
}


@pytest.mark.parametrize("format", ["csr", "hyb(2,2)"])
@pytest.mark.parametrize("name", DENSE_CHANGES)
def test_changes_of_dense_tensors(name: str, format: str) -> None:
    x, expected = torch.rand(5, 6, dtype=A.dtype), torch.rand(5, 6, dtype=A.dtype)
    x.copy_(expected)
    assert DENSE_CHANGES[name](tulle.tensor(A, format=format), x) is x
    assert_equal(x, DENSE_CHANGES[name](A, expected))


def test_autograd_follows_changes_of_dense_tensors() -> None:
    a, x = tulle.tensor(A).requires_grad_(), torch.ones(5, 6, dtype=A.dtype, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(a)
    y = x * 2
    y += a * 3
    y.sum().backward()
    assert x.grad is not None and (x.grad == 2).all()
    assert (a.grad == 3).all()
    with pytest.raises(tulle.UserError, match=r"add_: the result of the shape \[5, 6\]"):
        torch.ones(6, dtype=A.dtype).add_(a)
    with pytest.raises(
        tulle.UserError, match=r"does not fit into a tensor of the type torch.int64"
    ):
        torch.ones(5, 6, dtype=torch.int64).add_(a)


def test_remedies_work() -> None:
    a = tulle.tensor(A)
    a.copy_(B.sparse_mask(a))
    assert_equal(a, B * (A != 0))
    a.values().fill_(2)
    assert_equal(a, 2.0 * (A != 0).double())


def test_autograd_checks_changes() -> None:
    a = tulle.tensor(A)
    a.values().requires_grad_()
    with pytest.raises(RuntimeError, match="leaf Variable"):
        a.mul_(2)
    doubled = a * 1
    doubled.mul_(torch.full((6,), 3.0, dtype=torch.float64))
    doubled.to_dense().sum().backward()
    assert a.values().grad is not None
    assert a.values().grad.tolist() == [3] * a.nnz


@pytest.mark.parametrize("format", FORMATS)
def test_sparse_mask(format: str) -> None:
    a, b = tulle.tensor(A, format=format), tulle.tensor(B)
    stored = a.with_values(torch.ones_like(a.values())).to_dense().clamp(max=1)
    for source, expected in ((b, B), (B, B), (a, A)):
        found = source.sparse_mask(a)
        assert found.pattern is a.pattern
        if format not in ("hyb(2,2)",):
            assert_equal(found, expected * stored)


@pytest.mark.parametrize("format", FORMATS)
def test_sampled_addmm(format: str) -> None:
    a, q, k = tulle.tensor(A, format=format), random_dense(5, 3), random_dense(3, 6)
    stored = a.with_values(torch.ones_like(a.values())).to_dense()
    found = torch.sparse.sampled_addmm(a, q, k, beta=0.5, alpha=2.0)
    assert found.pattern is a.pattern
    assert_equal(found, A * 0.5 + 2 * (q @ k) * stored)
    assert_equal(torch.sparse.sampled_addmm(a, q, k, beta=0.0), (q @ k) * stored)


@pytest.mark.parametrize("format", ["csr", "hyb(2,2)"])
def test_products_with_further_arguments(format: str) -> None:
    a, x, v = tulle.tensor(A, format=format), random_dense(6, 4), random_dense(6, 1)[:, 0]
    c, batch = random_dense(5, 4), random_dense(2, 6, 4)
    assert_equal(torch.addmm(c, a, x, beta=2, alpha=0.5), torch.addmm(c, A, x, beta=2, alpha=0.5))
    assert_equal(torch.sparse.addmm(c, a, x), torch.addmm(c, A, x))
    assert_equal(c.addmm(a, x, beta=0), A @ x)
    assert_equal(torch.addmv(c[:, 0], a, v, alpha=3), torch.addmv(c[:, 0], A, v, alpha=3))
    if format == "csr":
        stack = torch.stack([A, B])
        s = tulle.tensor(stack, format="csr")
        assert_equal(torch.baddbmm(c, s, batch, beta=2), c * 2 + stack @ batch)
        assert_equal(torch.addbmm(c, s, batch), torch.addbmm(c, stack, batch))
        assert_equal(torch.bmm(s, batch), stack @ batch)
    assert_equal(torch.mv(a, v), A @ v)


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_reducing_products(reduce: str) -> None:
    x = random_dense(6, 3)
    expected = torch.sparse.mm(A.to_sparse_csr(), x, reduce)
    assert_equal(torch.sparse.mm(tulle.tensor(A), x, reduce), expected)
    with pytest.raises(tulle.UserError, match="reduce must be"):
        torch.sparse.mm(tulle.tensor(A), x, "median")


def dense_rows(rows: list[list[float]], width: int) -> Tensor:
    return torch.tensor([row + [0.0] * (width - len(row)) for row in rows], dtype=torch.float64)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "ell(6)", "hyb(2,2)"])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_and_topk(descending: bool, format: str) -> None:
    a = tulle.tensor(A, format=format)
    rows = [sorted(row[row != 0].tolist(), reverse=descending) for row in A]
    values, indices = torch.sort(a, 1, descending=descending)
    assert values.format == "ragged"
    assert_equal(values, dense_rows(rows, 6))
    for row, row_values in enumerate(rows):
        places = indices.to_dense()[row, : len(row_values)]
        assert A[row, places].tolist() == row_values
    columns = a.sort(0, descending=descending).values
    assert_equal(columns, a.T.sort(1, descending=descending).values.to_dense().T)
    top, places = a.topk(2, largest=descending)
    worst = -torch.inf if descending else torch.inf
    for row, row_values in enumerate(rows):
        filled = (row_values + [worst] * 2)[:2]
        assert top[row].tolist() == filled
        assert [int(p) >= 0 for p in places[row]] == [value != worst for value in filled]


def test_sort_of_higher_ranks_and_refusals() -> None:
    cube = torch.stack([A, B])
    found = tulle.tensor(cube, format="csf").sort().values.to_dense()
    assert_equal(found[1], tulle.tensor(B).sort().values.to_dense())
    row = tulle.tensor(A[0])
    assert row.sort(descending=True).values.to_dense()[0] == A[0].max()
    assert row.topk(1).values.item() == A[0].max()
    with pytest.raises(tulle.UserError, match="k must be from 0 to 6"):
        tulle.tensor(A).topk(7)
    assert tulle.tensor(torch.zeros(2, 3)).topk(1).indices.tolist() == [[-1], [-1]]


def test_padding_beside_entries_of_other_parts() -> None:
    """A block holds padding at a coordinate whose entry another part takes."""
    format = "{ rows(nnz<=1): bsr(2,2); rest: csr }"
    x = torch.zeros(4, 4)
    x[0, 0] = 1
    x[1, 0], x[1, 1], x[1, 3] = 2, 3, 4
    a = tulle.tensor(x, format=format)
    parts = [part.coordinates().T.tolist() for part in a.parts()]
    assert [1, 0] in parts[0] and [1, 0] in parts[1]
    q, d = torch.rand(4, 2), torch.arange(4.0)
    stored = a.to(format="csr").with_values(torch.ones(a.to(format="csr").nnz)).to_dense()
    assert_equal(torch.sparse.sampled_addmm(a, q, q.T, beta=0.0), (q @ q.T) * stored)
    assert_equal((d + x).sparse_mask(a), (d + x) * stored)
    assert_equal(a % (d + 1), x % (d + 1))
    assert_equal(a / (d + 1), x / (d + 1))
    assert_equal(a * d, x * d)
    assert (a * d).pattern is a.pattern
    assert_equal(a.var(1), x.var(1))
    assert_equal(a > 1, x > 1)
    assert a.sort(1).values.to_dense()[1].tolist() == [2, 3, 4, 0]
    assert_equal(a.add_(tulle.tensor(x)), x * 2)
    assert str(a.format) == format
    a.add_(a).mul_(d)
    assert_equal(a, 4 * x * d)


# ---- items ---------------------------------------------------------------------------------------

ITEM_FORMATS = ["csr", "csc", "coo", "dcsr", "bsr(2,3)", "ell(7)", "dia", "bitmap", "ragged"]


def _set(index: Any, value: Any) -> Callable[[Any], None]:
    def assign(a: Any) -> None:
        a[index] = value

    return assign


def _masked(value: Any) -> Callable[[Any], None]:
    def assign(a: Any) -> None:
        a[a > 3] = value

    return assign


@pytest.mark.parametrize("format", ITEM_FORMATS)
def test_items_are_set(format: str) -> None:
    data = random_sparse(5, 7, density=0.4)
    row, column = (int(one) for one in data.nonzero()[3])
    rows, columns = data.nonzero()[:4].T
    factors = (data[1:3] != 0).double() * 3
    changes: list[Callable[[Any], None]] = [
        _set((row, column), 9),
        _set((rows, columns), torch.arange(4.0).double()),
        _set(2, 0),
        _set((slice(None), [1, 4]), 0.0),
        _set(slice(1, 3), factors),
        _set((0, ...), data[0] * 2),
        _masked(-1),
        _masked(torch.tensor(5.0).double()),
    ]
    for change in changes:
        expected, tensor = data.clone(), tulle.tensor(data, format=format)
        pattern = tensor.pattern
        change(tensor)
        change(expected)
        assert_equal(tensor, expected)
        assert tensor.pattern is pattern
    tensor = tulle.tensor(data, format=format)
    tensor[1:3] = tensor[1:3] * 2
    expected = data.clone()
    expected[1:3] *= 2
    assert_equal(tensor, expected)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_items_without_an_entry_stay_absent(format: str) -> None:
    data = random_sparse(5, 7, density=0.4)
    tensor = tulle.tensor(data, format=format)
    empty = tuple(int(one) for one in (data == 0).nonzero()[0])
    ones = torch.ones_like(data[0])
    for change in (_set(empty, 1), _set(0, 2.0), _set(0, ones), _set(0, tulle.tensor(ones))):
        with pytest.raises(tulle.UserError, match=r"A = tulle\.tensor\(x\)"):
            change(tensor)
    with pytest.raises(tulle.UserError, match="do not fit"):
        tensor[0] = torch.ones(3)
    with pytest.raises(IndexError, match="does not fit a part of the shape"):
        tensor[0] = torch.ones(2, 7)
    with pytest.raises(IndexError, match="out of range"):
        tensor[9, 9] = 1
    tensor[empty] = 0
    assert_equal(tensor, data)
    rows, columns = torch.tensor(empty)[:, None]
    added = tensor + tulle.from_edge_index([rows, columns], torch.ones(1).double(), shape=(5, 7))
    data[empty] = 1
    assert_equal(added, data)
    with pytest.raises(tulle.UserError, match=r'A = A\.to\(format="csr"\)'):
        tulle.tensor(data, format="hyb(2,2)")[0] = 0


def test_gradients_of_items() -> None:
    x = torch.tensor(4.0, requires_grad=True)
    tensor = tulle.eye(3)
    tensor[1, 1] = x
    (tensor @ torch.ones(3)).sum().backward()
    assert x.grad == 1
    with pytest.raises(RuntimeError, match="leaf Variable"):
        tulle.eye(3, requires_grad=True)[1, 1] = 2
