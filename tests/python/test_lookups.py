"""Functions of torch that look up single elements, and lists of different values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import DTYPES, assert_equal, random_dense, random_sparse

import tulle

FORMATS = ["csr", "coo", "csc", "bsr(2,3)", "ell(7)", "dia", "bitmap", "hyb(2,2)", "dia-csr(-1,1)"]
INDEX = torch.tensor([[2, 0, 4], [0, 1, 4]])
CALLS: list[Callable[..., Any]] = [
    lambda a: a.gather(0, INDEX),
    lambda a: torch.gather(a, dim=1, index=INDEX),
    lambda a: a.gather(-1, INDEX[:, :0]),
    lambda a: a.gather(0, INDEX.repeat(3, 1)),
    lambda a: a.take(INDEX),
    lambda a: torch.take(a, torch.tensor([-1, 34, 0])),
    lambda a: torch.take_along_dim(a, INDEX[:1].T.repeat(2, 1)[:5], 1),
    lambda a: a.take_along_dim(INDEX[:1, :1], dim=0),
    lambda a: a.take_along_dim(INDEX),
    lambda a: a.index_fill(0, INDEX[0], 0),
    lambda a: torch.index_fill(a, 1, torch.tensor([-1, 0]), 0),
    lambda a: a.index_fill(dim=1, index=torch.tensor(3), value=2),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("format", FORMATS)
def test_elements_and_gradients(call: Callable[..., Any], format: str) -> None:
    data = random_sparse(5, 7).requires_grad_()
    tensor = tulle.tensor(data.detach(), format=format).requires_grad_()
    found, expected = call(tensor), call(data)
    dense = found.to_dense() if isinstance(found, tulle.SparseTensor) else found
    assert_equal(dense, expected)
    weights = random_dense(*expected.shape, seed=3)
    (dense * weights).sum().backward()
    (expected * weights).sum().backward()
    assert tensor.grad is not None
    assert data.grad is not None
    entries = tensor.with_values(torch.ones_like(tensor.values())).to_dense()
    assert_equal(tensor.with_values(tensor.grad).to_dense(), data.grad * entries)


def test_a_row_filled_with_zeros_keeps_the_entries() -> None:
    for format in FORMATS:
        tensor = tulle.tensor(random_sparse(5, 7), format=format)
        filled = tensor.index_fill(0, INDEX[0], 0)
        assert (str(filled.format), filled.nnz) == (str(tensor.format), tensor.nnz)


def test_other_ranks() -> None:
    vector, tensor = random_sparse(9), random_sparse(3, 4, 5)
    assert_equal(tulle.tensor(vector).gather(0, INDEX[0]), vector.gather(0, INDEX[0]))
    index = torch.tensor([[[1, 0, 4]], [[0, 2, 4]]])
    assert_equal(tulle.tensor(tensor).gather(2, index), tensor.gather(2, index))
    assert_equal(tulle.tensor(tensor).take(index), tensor.take(index))


def test_large_shapes() -> None:
    size = 2**31 - 1
    entry = torch.tensor([[size - 1], [5]])
    tensor = tulle.tensor(torch.sparse_coo_tensor(entry, torch.ones(1), (size, size)))
    assert tensor.gather(0, torch.tensor([[0, 0, 0, 0, 0, size - 1]])).tolist() == [[0.0] * 5 + [1]]
    assert tensor.take(torch.tensor([(size - 1) * size + 5, 3])).tolist() == [1, 0]
    values, counts = tensor.unique(return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([0, 1], [size * size - 1, 1])


@pytest.mark.parametrize("dtype", [*DTYPES, torch.bool])
@pytest.mark.parametrize("format", FORMATS)
def test_different_values(format: str, dtype: torch.dtype) -> None:
    for data in (random_sparse(5, 7), -random_sparse(5, 7), random_dense(5, 7).abs() + 1):
        data = data.to(dtype)
        tensor = tulle.tensor(data, format=format)
        assert_equal(tensor.unique(), data.unique())
        found, expected = (torch.unique(one, return_counts=True) for one in (tensor, data))
        assert_equal(found[0], expected[0])
        assert_equal(found[1], expected[1])


def test_dense_tensors_take_sparse_masks() -> None:
    # With fewer rows torch warns, because it takes the mask for a sequence first.
    data, values = random_sparse(40, 7), random_dense(40, 7)
    for format in FORMATS:
        mask = tulle.tensor(data, format=format) > 2
        assert_equal(values[mask], values[data > 2])
        assert_equal(torch.masked_select(values, mask), values[data > 2])
        changed, expected = values.clone(), values.clone()
        changed[mask] = 9
        expected[data > 2] = 9
        assert_equal(changed, expected)
    with pytest.raises(tulle.UserError, match="mask of bool"):
        values[tulle.tensor(data)]


def test_numbers_in_tensors() -> None:
    for format in FORMATS:
        tensor = tulle.tensor(random_sparse(5, 7), format=format)
        for number in (0, 3, 2.5, 5.0):
            assert (number in tensor) == (number in tensor.to_dense())
    assert 0 not in tulle.tensor(torch.ones(2, 3))
    assert 0 in tulle.tensor(torch.ones(2, 3)) * 0
    with pytest.raises(tulle.UserError, match="a number"):
        "3" in tulle.tensor(torch.ones(2, 3))  # noqa: B015


MISTAKES: list[tuple[Callable[..., Any], str]] = [
    (lambda a: a.gather(0, INDEX[0]), "rank"),
    (lambda a: a.gather(0, INDEX.float()), "int64"),
    (lambda a: a.gather(1, INDEX.repeat(3, 1)), "dimension 1 may be larger"),
    (lambda a: a.gather(0, INDEX + 3), "out of range"),
    (lambda a: a.take(torch.tensor([35])), "out of range"),
    (lambda a: a.take(torch.tensor([-36])), "out of range"),
    (lambda a: a.unique(return_inverse=True), "return_inverse"),
    (lambda a: a.unique(dim=0), "to_dense"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes(call: Callable[..., Any], message: str) -> None:
    with pytest.raises((tulle.UserError, tulle.Unsupported), match=message):
        call(tulle.tensor(random_sparse(5, 7)))
