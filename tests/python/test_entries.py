"""Entries and their coordinates: storage order, padding of blocks, what `repr` shows."""

from __future__ import annotations

import pytest
import torch
from helpers import MATRIX_FORMATS, assert_equal, random_sparse

import tulle
from tulle.tensors.pattern import Pattern

# Formats of rank 3 with blocks that divide no size.
BLOCKS_OF_RANK_3 = [
    "(i,j,k) -> (i: dense, j/2: compressed, k/3: compressed, j%2: dense, k%3: dense)",
    "(i,j,k) -> (k/4: compressed, i: compressed, k%4: compressed, j: dense)",
    "(i,j,k) -> (j/3: dense, i: compressed, k/2: dense, j%3: dense, k%2: dense)",
    "(i,j,k) -> (i/2: dense, j: dense, i%2: dense, k: dense)",
]


def check_entries(tensor: tulle.SparseTensor, data: torch.Tensor) -> None:
    """Asserts that each entry occurs once with its value, and nothing outside the shape."""
    coordinates, values = tensor.entries()
    assert coordinates.shape == (data.ndim, tensor.nnz)
    assert values.shape == (tensor.nnz,)
    assert torch.equal(coordinates, tensor.coordinates())
    assert torch.equal(data[tuple(coordinates)], values)
    assert len(set(map(tuple, coordinates.T.tolist()))) == tensor.nnz
    again = torch.zeros_like(data)
    again[tuple(coordinates)] = values
    assert_equal(again, data)


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("shape", [(6, 6), (5, 7), (1, 1), (7, 1), (0, 4), (4, 0)])
def test_matrices(format: str, shape: tuple[int, int]) -> None:
    data = random_sparse(*shape)
    tensor = tulle.tensor(data, format=format)
    check_entries(tensor, data)
    check_entries(tensor.T, data.T)
    assert tensor.nnz == tensor.to(format="coo").nnz


@pytest.mark.parametrize("format", ["csf", "coo", "csr", *BLOCKS_OF_RANK_3])
def test_rank_three(format: str) -> None:
    data = random_sparse(3, 5, 7)
    check_entries(tulle.tensor(data, format=format), data)


def test_values_are_the_whole_storage() -> None:
    tensor = tulle.tensor(torch.eye(5), format="bsr(3,3)")
    assert tensor.values().shape == (18,)
    assert tensor.nnz == 9 + 4
    assert_equal(tensor.with_values(tensor.values() * 2), torch.eye(5) * 2)


def shown(tensor: tulle.SparseTensor) -> list[str]:
    return repr(tensor).splitlines()


@pytest.mark.parametrize("format", MATRIX_FORMATS)
def test_repr_shows_the_first_and_last_entries(format: str) -> None:
    tensor = tulle.tensor(random_sparse(5, 7, density=0.9), format=format)
    coordinates, values = tensor.entries()
    lines = [
        f"  ({row}, {column}): {value:g}"
        for (row, column), value in zip(coordinates.T.tolist(), values.tolist(), strict=True)
    ]
    assert f"nnz={tensor.nnz}," in shown(tensor)[0]
    assert shown(tensor)[1:] == [*lines[:4], "  ...", *lines[-4:]]


def test_repr_of_few_entries() -> None:
    assert shown(tulle.tensor(torch.zeros(3, 3)))[1:] == []
    assert len(shown(tulle.tensor(torch.eye(8)))) == 1 + 8
    padded = tulle.tensor(torch.ones(1, 1), format="bsr(30,30)")
    assert shown(padded) == [
        "tulle.SparseTensor(1x1 float32, bsr(30,30), nnz=1, index_dtype=int32)",
        "  (0, 0): 1",
    ]


@pytest.mark.parametrize(
    "format", [*MATRIX_FORMATS, "ell(7)", "pieces(2)", "dia", "ragged", "bitmap", "hyb(2,2)"]
)
def test_repr_of_a_pattern(format: str) -> None:
    tensor = tulle.tensor(random_sparse(5, 7), format=format)
    assert repr(tensor.pattern) == (
        f"Pattern(5x7, {tensor.format}, nnz={tensor.nnz}, index_dtype=int32)"
    )
    assert tensor.pattern.count_slots() == tensor.values().numel()


def test_repr_shows_integers_in_full() -> None:
    assert shown(tulle.tensor(torch.tensor([[123456789]])))[1:] == ["  (0, 0): 123456789"]
    assert shown(tulle.tensor(torch.tensor([[True]])))[1:] == ["  (0, 0): True"]


@pytest.mark.parametrize("format", ["csr", "coo", "bsr(16,16)"])
def test_repr_looks_at_what_it_shows(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = tulle.tensor(torch.eye(999), format=format)
    looked_at: list[int] = []
    find = Pattern.coordinates_at

    def counted(pattern: Pattern, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        looked_at.append(slots.numel())
        return find(pattern, slots)

    monkeypatch.setattr(Pattern, "coordinates_at", counted)
    assert len(shown(tensor)) == 10
    assert sum(looked_at) <= 1000
