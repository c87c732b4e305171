"""Functions of torch that consist of others: losses of training code, rare element functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import random_dense, random_sparse
from torch.nn import functional

import tulle

FORMATS = ["csr", "coo", "bsr(2,3)", "ell(7)", "dia", "bitmap", "hyb(2,2)", "dia-csr(-1,1)"]
X = random_dense(5, 7) / 4 + 0.125
WEIGHTS = random_dense(7, seed=5) / 8
CALLS: dict[str, Callable[..., Any]] = {
    "prelu": lambda a, b: torch.prelu(a, WEIGHTS[:1]),
    "prelu of columns": lambda a, b: functional.prelu(a, WEIGHTS),
    "A.prelu": lambda a, b: a.prelu(WEIGHTS[:1]),
    "dist": lambda a, b: torch.dist(a, b),
    "dist from dense": lambda a, b: a.dist(X, 1),
    "vecdot": lambda a, b: torch.linalg.vecdot(a, X),
    "vecdot of sparse": lambda a, b: torch.linalg.vecdot(a, b, dim=0),
    "cosine_similarity": lambda a, b: functional.cosine_similarity(a, X),
    "cosine_similarity of sparse": lambda a, b: functional.cosine_similarity(a, b, dim=0),
    "linalg.matmul": lambda a, b: torch.linalg.matmul(a, X.T),
    "rsub": lambda a, b: torch.rsub(a, b, alpha=2),
    "sum of a list": lambda a, b: sum([a, b, a]),
    "A + 0": lambda a, b: a + 0,
    "0.0 - A": lambda a, b: 0.0 - a,
    "aminmax": lambda a, b: a.aminmax().max,
    "aminmax of rows": lambda a, b: torch.aminmax(a, dim=1, keepdim=True).min,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("format", FORMATS)
def test_results_and_gradients(name: str, format: str) -> None:
    call = CALLS[name]
    data = [random_sparse(5, 7, seed=seed) / 8 - (seed == 1) * 0.25 for seed in (0, 1)]
    data = [torch.where(random_sparse(5, 7, seed=at) != 0, one, 0) for at, one in enumerate(data)]
    dense = [one.clone().requires_grad_() for one in data]
    sparse = [tulle.tensor(one, format=format).requires_grad_() for one in data]
    found, expected = call(*sparse), call(*dense)
    assert found.dtype == expected.dtype
    full = found.to_dense() if isinstance(found, tulle.SparseTensor) else found
    torch.testing.assert_close(full, expected)
    full.sum().backward()
    expected.sum().backward()
    for one, other in zip(sparse, dense, strict=True):
        if other.grad is None:
            continue
        assert one.grad is not None
        entries = one.with_values(torch.ones_like(one.values())).to_dense()
        gradient = one.with_values(one.grad).to_dense()
        if name.startswith("aminmax") or name.startswith("prelu"):  # padding ties with zeros
            entries = entries * (one.detach().to_dense() != 0)
            gradient = gradient * entries
        torch.testing.assert_close(gradient, torch.where(entries != 0, other.grad, 0))


def test_sums_with_zero_keep_entries() -> None:
    for format in FORMATS:
        tensor = tulle.tensor(random_sparse(5, 7), format=format)
        for found in (tensor + 0, 0 + tensor, 0 - tensor, tensor - 0.0, sum([tensor])):
            assert isinstance(found, tulle.SparseTensor)
            assert found.format == tensor.format
    whole = tulle.tensor(random_sparse(5, 7, dtype=torch.int64))
    assert (whole + 0.0).dtype == torch.float32
    assert (whole.bool() + 0).dtype == torch.int64


NAMES = [
    *("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "modified_bessel_i0", "modified_bessel_i1"),
    *("scaled_modified_bessel_k0", "spherical_bessel_j0"),
]


@pytest.mark.parametrize("name", NAMES)
def test_special_functions(name: str) -> None:
    data, function = random_sparse(5, 7), getattr(torch.special, name)
    found = function(tulle.tensor(data))
    assert isinstance(found, tulle.SparseTensor) == name.endswith(("_j1", "_i1"))
    full = found.to_dense() if isinstance(found, tulle.SparseTensor) else found
    torch.testing.assert_close(full, function(data), equal_nan=True)


def test_polynomials() -> None:
    data = random_sparse(5, 7) / 8
    found = torch.special.legendre_polynomial_p(tulle.tensor(data), 3)
    torch.testing.assert_close(found.to_dense(), torch.special.legendre_polynomial_p(data, 3))
    torch.testing.assert_close(tulle.tensor(data).polygamma(1), data.polygamma(1))
    torch.testing.assert_close(torch.polygamma(2, tulle.tensor(data)), torch.polygamma(2, data))


def test_types_of_results() -> None:
    a = tulle.tensor(random_sparse(5, 7, dtype=torch.float32))
    assert torch.result_type(a, torch.tensor(1.0, dtype=torch.float64)) == torch.float32
    assert torch.result_type(a, X) == torch.float64
    assert a.is_same_size(X)


def test_matrices_transposed_and_added_in_place() -> None:
    for format in FORMATS:
        data, other = random_sparse(5, 7), random_sparse(5, 5, seed=2)
        tensor = tulle.tensor(data, format=format)
        same = tensor
        assert tensor.t_() is same
        torch.testing.assert_close(tensor.to_dense(), data.T)
        torch.testing.assert_close(tensor.transpose_(0, -1).to_dense(), data)
        added = tensor.addmm_(tulle.tensor(other), tulle.tensor(data), alpha=2)
        assert added is same
        torch.testing.assert_close(tensor.to_dense(), data + 2 * other @ data)
        assert torch.zero_(tensor) is same
        assert not tensor.values().any()
        assert tensor.requires_grad_().mul(2).detach_().is_leaf
        with pytest.raises(tulle.UserError, match="leaf"):
            tensor.t_()


def test_views_of_torch_are_detached() -> None:
    tensor = tulle.tensor(random_sparse(5, 7).to_sparse_csr())
    assert tensor.detach_() is tensor


def test_broadcast_tensors() -> None:
    row = random_sparse(1, 7)
    found, dense = torch.broadcast_tensors(tulle.tensor(row), X)
    assert dense.shape == (5, 7)
    torch.testing.assert_close(found.to_dense(), row.expand(5, 7))
