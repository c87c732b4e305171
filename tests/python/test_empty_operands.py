"""Functions of several operands of which some have no entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from helpers import random_sparse

import tulle

FORMATS = ["csr", "coo", "csc", "bsr(2,3)", "ell(7)", "dia", "bitmap", "hyb(2,2)"]
CALLS: dict[str, Callable[..., Any]] = {
    "copysign": lambda a, b: torch.copysign(a, b),
    "ldexp": lambda a, b: torch.ldexp(a, b),
    "maximum": lambda a, b: torch.maximum(a, b),
    "where": lambda a, b: torch.where(b != 0, a, b),
    "add_": lambda a, b: (a * 1).add_(b),
    "sub_": lambda a, b: (a * 1).sub_(b, alpha=2),
    "mul_": lambda a, b: (a * 1).mul_(b),
    "masked_fill": lambda a, b: a.masked_fill(b != 0, 0),
    "logical_and": lambda a, b: (a != 0) & (b != 0),
    "addmm": lambda a, b: torch.addmm(a @ a.T, a, b.T),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("format", FORMATS)
def test_operands_without_entries(name: str, format: str) -> None:
    zeros, data = torch.zeros(5, 7, dtype=torch.float64), random_sparse(5, 7)
    for first, second in ((zeros, data), (data, zeros), (zeros, zeros)):
        dense = [one.clone().requires_grad_() for one in (first, second)]
        sparse = [tulle.tensor(one, format=format).requires_grad_() for one in (first, second)]
        found, expected = CALLS[name](*sparse), CALLS[name](*dense)
        full = found.to_dense() if isinstance(found, tulle.SparseTensor) else found
        torch.testing.assert_close(full, expected, equal_nan=True)
        if full.requires_grad:
            full.nan_to_num().sum().backward()
            assert sparse[0].grad is not None


@pytest.mark.parametrize("format", FORMATS)
def test_masks_without_entries(format: str) -> None:
    none = tulle.tensor(torch.zeros(5, 7, dtype=torch.float64), format=format)
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data, format=format)
    for found in (none.sparse_mask(tensor), tensor.sparse_mask(none), none % tensor):
        torch.testing.assert_close(found.to_dense(), torch.zeros_like(data))
    remainder = (tensor % none).to_dense()
    assert bool((remainder[data != 0]).isnan().all())


def test_compiled_functions() -> None:
    data = random_sparse(5, 7)
    function = torch.compile(lambda a, b: a.sparse_mask(b).values() * 2, fullgraph=True)
    pattern = tulle.tensor(data)
    for one in (data, torch.zeros_like(data)):
        found = function(tulle.tensor(one, format="coo"), pattern)
        torch.testing.assert_close(found, one[data != 0] * 2)


@pytest.mark.parametrize("shape", [(0, 7), (5, 0), (0, 0)])
def test_norms_of_no_elements(shape: tuple[int, int]) -> None:
    data = torch.zeros(shape)
    for order in (1, torch.inf, "fro"):
        found = torch.linalg.matrix_norm(tulle.tensor(data), order)
        torch.testing.assert_close(found, torch.linalg.matrix_norm(data, order))
