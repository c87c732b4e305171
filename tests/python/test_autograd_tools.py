"""torch.utils.checkpoint, anomaly mode, and what profilers show."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from helpers import random_dense, random_sparse
from torch import Tensor
from torch.utils.checkpoint import checkpoint

import tulle

ROWS, COLUMNS, WIDTH = 5, 6, 3
FORMATS = ["csr", "coo", "bsr(2,3)", "dia", "hyb(2,2)"]
LABEL = "tulle: C[i,k] = A[i,j] * B[j,k]"


def leaves(format: str) -> tuple[tulle.SparseTensor, Tensor, Tensor]:
    """A matrix, values for it and a dense operand, both of which require gradients."""
    tensor = tulle.tensor(random_sparse(ROWS, COLUMNS), format=format)
    values = tensor.values().clone().requires_grad_()
    return tensor, values, random_dense(COLUMNS, WIDTH, seed=1).requires_grad_()


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("format", FORMATS)
def test_checkpoint(format: str, reentrant: bool) -> None:
    tensor, values, x = leaves(format)

    def loss(values: Tensor, x: Tensor) -> Tensor:
        a = tensor.with_values(values)
        return torch.relu(a @ x).sum() + tulle.einsum("ij,jk->", a, x * 0.5)

    loss(values, x).backward()
    expected = values.grad, x.grad
    values.grad = x.grad = None
    checkpoint(loss, values, x, use_reentrant=reentrant).backward()
    torch.testing.assert_close(values.grad, expected[0])
    torch.testing.assert_close(x.grad, expected[1])


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_of_a_sparse_operand(reentrant: bool) -> None:
    tensor, values, x = leaves("csr")
    a = tensor.with_values(values)
    checkpoint(lambda a, x: (a @ x).sum(), a, x, use_reentrant=reentrant).backward()
    found, values.grad = values.grad, None
    (tensor.with_values(values) @ x).sum().backward()
    torch.testing.assert_close(found, values.grad)


def anomaly_of(function: Any) -> str:
    """The messages of anomaly mode: the error and the warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError) as error, torch.autograd.detect_anomaly():
            function().sum().backward()
    return "\n".join([str(error.value), *(str(one.message) for one in caught)])


@pytest.mark.parametrize("calls", [1, 2])
def test_anomaly_mode_names_the_computation(calls: int) -> None:
    tensor, values, _x = leaves("csr")

    def root(n: Tensor) -> Any:
        a = tensor.with_values(n)
        return tulle.compute("y[i] = sqrt(sum(j, A[i,j] * 0))", A=a)

    for _ in range(calls - 1):
        root(values)
    text = anomaly_of(lambda: root(values))
    assert "gradient of tulle: y[i] = sqrt(sum(j, A[i,j] * 0))" in text
    assert "in root" in text


def names_in_profile(function: Any) -> set[str]:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        function()
    return {event.key for event in profile.key_averages()}


@pytest.mark.parametrize("calls", [1, 3])
def test_profiler_shows_forward_and_backward(calls: int) -> None:
    tensor, values, x = leaves("csr")

    def product() -> None:
        (tensor.with_values(values) @ x).sum().backward()

    for _ in range(calls - 1):
        product()
    names = names_in_profile(product)
    assert LABEL in names
    assert f"gradient of {LABEL}" in names


@pytest.mark.parametrize("calls", [1, 3])
def test_profiler_shows_calls_without_gradients(calls: int) -> None:
    tensor, _, x = leaves("csr")
    functions = {
        LABEL: lambda: tensor @ x.detach(),
        "tulle: einsum ij,jk->ik": lambda: tulle.einsum("ij,jk->ik", tensor, x.detach()),
        "tulle: T[i,j] = relu(A[i,j]); y[i] = T[i,j]": lambda: tulle.compute(
            "T[i,j] = relu(A[i,j])\ny[i] = T[i,j]", A=tensor
        ),
    }
    for label, function in functions.items():
        for _ in range(calls - 1):
            function()
        assert label in names_in_profile(function)


def test_long_programs_get_short_names() -> None:
    tensor = leaves("csr")[0]
    text = "y[i] = " + " + ".join(["A[i,j]"] * 60)
    (name,) = [
        name for name in names_in_profile(lambda: tulle.compute(text, A=tensor)) if "y[i]" in name
    ]
    assert len(name) < 200 and name.endswith("...")
