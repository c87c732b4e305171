"""Results and gradients have the same bits in each run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

import tulle

SIZE, WIDTH = 400, 24
FORMATS = ["csr", "csc", "coo", "bsr(2,3)", "ell(40)", "hyb(2,2)"]
PROGRAMS = [
    "C[i,k] = A[i,j] * X[j,k]",
    "C[j,k] = A[i,j] * X[i,k]",
    "s = A[i,j] * X[i,k] * X[j,k]",
    "M[i,k] = max(j in A[i,j], A[i,j] * X[j,k])",
    "O[i,k] = softmax(j in A[i,j], sum(d, X[i,d] * X[j,d])) * X[j,k]",
]


@pytest.fixture(params=[False, True])
def mode(request: pytest.FixtureRequest) -> Iterator[bool]:
    """With torch.use_deterministic_algorithms and without, on two threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(request.param)
    yield request.param
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)


def runs(tensor: tulle.SparseTensor, x: Tensor, text: str) -> list[Tensor]:
    """The result and the gradients of a run."""
    values = tensor.values().clone().requires_grad_()
    x = x.clone().requires_grad_()
    found = tulle.compute(text, A=tensor.with_values(values), X=x)
    return [found.detach(), *torch.autograd.grad(found.square().sum(), (values, x))]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("text", PROGRAMS)
def test_cpu(text: str, format: str, mode: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    dense = torch.rand(SIZE, SIZE, generator=generator)
    dense *= torch.rand(SIZE, SIZE, generator=generator) < 0.05
    tensor = tulle.tensor(dense).to(format=format)
    x = torch.rand(SIZE, WIDTH, generator=generator) - 0.5
    first = runs(tensor, x, text)
    for _ in range(3):
        for one, other in zip(runs(tensor, x, text), first, strict=True):
            assert torch.equal(one, other)
