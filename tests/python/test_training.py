"""The networks of the training benchmark: every library computes the same losses."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import tulle

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from training import models, problems  # noqa: E402
from training.networks import Sizes  # noqa: E402

STEPS = 6
SIZES = Sizes(features=12, hidden=16, classes=5)
PROBLEM = problems.small("cpu", SIZES)


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        yield


def losses_of(model: str, library: str, *, compiled: bool = False) -> list[float]:
    training = PROBLEM.training(model, library)
    if compiled:
        training.forward = torch.compile(training.model, fullgraph=True, backend="aot_eager")
    return training.losses(STEPS)


@pytest.mark.parametrize("model", models.MODELS)
def test_losses_are_those_of_other_libraries(model: str) -> None:
    found = losses_of(model, "tulle")
    assert found[-1] != found[0]
    for library in models.available():
        if models.has(model, library):
            assert found == pytest.approx(losses_of(model, library), rel=1e-4), library


@pytest.mark.parametrize("model", models.MODELS)
def test_compiled_losses(model: str) -> None:
    found = losses_of(model, "tulle", compiled=True)
    assert found == pytest.approx(losses_of(model, "tulle"), rel=1e-4)


def test_patterns_are_not_copied() -> None:
    """The matrices of a graph share one pattern, so that they share kernels and derived data."""
    graph = PROBLEM.training("GCN", "tulle").graph
    assert graph.sums.pattern is graph.means.pattern is graph.normalised.pattern
    assert isinstance(graph.sums, tulle.SparseTensor)
