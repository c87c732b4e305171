"""Recurring numbers are one tensor. These tests use the CPU for any device."""

from __future__ import annotations

import math

import pytest
import torch

from tulle.programs import scalar_tensors

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    scalar_tensors._seen.clear()
    monkeypatch.setattr(scalar_tensors, "_cached", {})


def of(number: float, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return scalar_tensors.tensor_of(number, dtype, CPU)


def test_what_comes_again_is_kept() -> None:
    first, second, third = of(0.125), of(0.125), of(0.125)
    assert first is not second and second is third
    assert third.item() == 0.125 and third.shape == () and third.dtype == torch.float64


def test_tells_numbers_and_types_apart() -> None:
    for number in (0.0, -0.0, 1.0, math.inf, math.nan, 5e-324):
        for _ in range(3):
            found = of(number)
            assert found.item() == number or math.isnan(number)
            assert math.copysign(1, found.item()) == math.copysign(1, number)
    for _ in range(3):
        assert of(1, torch.int64).dtype == torch.int64
        assert of(1.0, torch.float32).dtype == torch.float32


def test_remembers_so_many() -> None:
    for number in range(3 * scalar_tensors.MOST_SEEN):
        of(float(number))
    assert len(scalar_tensors._seen) == scalar_tensors.MOST_SEEN and not scalar_tensors._cached


def test_keeps_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scalar_tensors, "MOST_CACHED", 2)
    for number in (1.0, 2.0, 3.0):
        of(number)
        assert (of(number) is of(number)) == (number < 3)
    assert of(3.0).item() == 3


def test_made_under_inference_mode_serves_gradients() -> None:
    with torch.inference_mode():
        of(0.5)
        kept = of(0.5)
    assert of(0.5) is kept and not kept.is_inference()


def test_graphs_read_what_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    of(2.0)
    kept = of(2.0)
    monkeypatch.setattr(scalar_tensors, "_is_capturing", lambda device: True)
    assert all(of(2.0) is kept for _ in range(3))  # also in several graphs
    assert of(3.0) is not of(3.0)  # a tensor made during a capture belongs to the graph
    monkeypatch.setattr(scalar_tensors, "_is_capturing", lambda device: False)
    for number in range(2 * scalar_tensors.MOST_SEEN):
        of(number + 0.5)
    assert of(2.0) is kept


def test_too_large_a_number_is_refused_each_time() -> None:
    for _ in range(3):
        with pytest.raises((RuntimeError, OverflowError)):
            of(2**70, torch.int64)
