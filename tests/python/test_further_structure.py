"""Functions of torch that consist of slices, joins and reshapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import assert_equal, random_dense, random_sparse
from torch.nn import functional

import tulle

FORMATS = ["csr", "coo", "csc", "bsr(2,3)", "ell(6)", "dia", "bitmap", "hyb(2,2)", "dia-csr(-1,1)"]
COUNTS = torch.tensor([0, 2, 1, 0, 3])
CALLS: list[Callable[..., Any]] = [
    lambda a: functional.pad(a, (1, 2)),
    lambda a: functional.pad(a, (0, 0, 3, 1)),
    lambda a: functional.pad(a, (-2, 1, 1, -1), value=0.0),
    lambda a: torch.constant_pad_nd(a, (1, -3)),
    lambda a: a.diff(),
    lambda a: torch.diff(a, dim=0, n=2),
    lambda a: a.diff(n=9),
    lambda a: a.diff(dim=1, prepend=a[:, :1], append=a[:, 2:4]),
    lambda a: a.repeat_interleave(2),
    lambda a: torch.repeat_interleave(a, 3, dim=1),
    lambda a: a.repeat_interleave(COUNTS, 0),
    lambda a: a.repeat_interleave(0, dim=0),
    lambda a: torch.column_stack([a, a[:, 1], a]),
    lambda a: torch.atleast_3d(a),
    lambda a: torch.atleast_2d(a[0]),
    lambda a: torch.atleast_1d(a, a[1])[1],
    lambda a: torch.cat(a.hsplit([2, 5]), 1),
    lambda a: torch.cat(a.vsplit(5)),
    lambda a: torch.cat(torch.dsplit(a.unsqueeze(2).expand(5, 7, 4), sections=2), 2),
    lambda a: torch.cat(torch.split_with_sizes(a, [1, 4])[::-1]),
    lambda a: a.tensor_split(indices=[1, 3], dim=1)[1],
    lambda a: torch.tensor_split(a, sections=3)[2],
    lambda a: a.sum_to_size(5, 1),
    lambda a: a.sum_to_size(7),
    lambda a: a.sum_to_size((1, 7)),
    lambda a: a.diagflat()[3:9, 2:12],
    lambda a: a.diag_embed(offset=-1, dim1=0, dim2=1),
    lambda a: torch.linalg.diagonal(a, offset=1),
    lambda a: functional.embedding(COUNTS[1:], a),
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


def test_large_shapes_cost_their_entries() -> None:
    size = 2**31 - 9
    entries = torch.tensor([[0, size - 1], [size - 1, 3]])
    tensor = tulle.tensor(torch.sparse_coo_tensor(entries, torch.ones(2), (size, size)))
    assert functional.pad(tensor, (1, 2, 3, 0)).coordinates().tolist() == [
        [3, size + 2],
        [size, 4],
    ]
    assert tensor.diff(dim=0).nnz == 2
    assert tensor.repeat_interleave(2, dim=1).coordinates().tolist() == [
        [0, 0, size - 1, size - 1],
        [2 * size - 2, 2 * size - 1, 6, 7],
    ]


MISTAKES: list[tuple[Callable[..., Any], str]] = [
    (lambda a: functional.pad(a, (1, 1), value=2), "zeros only"),
    (lambda a: functional.pad(a, (1, 1), mode="reflect"), "zeros only"),
    (lambda a: functional.pad(a, (1,)), "two widths"),
    (lambda a: functional.pad(a, (-4, -4)), "lose"),
    (lambda a: a.repeat_interleave(-1), "negative"),
    (lambda a: a.repeat_interleave(COUNTS, 1), "7 coordinates"),
    (lambda a: a.sum_to_size(3, 7), "expand"),
    (lambda a: a.dsplit(2), "rank 3"),
    (lambda a: a.vsplit(2), "equal pieces"),
    (lambda a: a.tensor_split(), "a number of pieces"),
    (lambda a: functional.embedding(COUNTS, a, padding_idx=0), "weight"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes(call: Callable[..., Any], message: str) -> None:
    with pytest.raises((tulle.UserError, tulle.Unsupported), match=message):
        call(tulle.tensor(random_sparse(5, 7)))
