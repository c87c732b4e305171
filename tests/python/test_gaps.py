"""Formats with slots that hold no entry: ELL, DIA, ragged rows, bitmaps."""

from __future__ import annotations

import pytest
import torch
from helpers import MATRIX_FORMATS, assert_equal, random_dense, random_sparse

import tulle

# Formats with unused slots, which store exactly the given entries; the others pad.
UNPADDED = [
    "ell(9)",
    "bitmap",
    "(i,j) -> (j: dense, i: padded(9))",
    "(i,j) -> (j: dense, i: bitmap)",
]
PADDED = ["dia", "ragged", "dbsr(2,3)", "sr-bcrs(2,4)", "(i,j) -> (i-j: compressed, j: range)"]
FORMATS = [*UNPADDED, *PADDED, "(i,j) -> (i: dense, j: compressed multiple(4))"]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (1, 1), (6, 1), (0, 4), (4, 0)])
def test_storing_and_reading_back(format: str, shape: tuple[int, int]) -> None:
    data = random_sparse(*shape)
    tensor = tulle.tensor(data, format=format)
    assert_equal(tensor, data)
    assert_equal(tensor.T, data.T)
    coordinates, values = tensor.entries()
    assert coordinates.shape == (2, tensor.nnz)
    again = torch.zeros_like(data)
    again[tuple(coordinates)] = values
    assert_equal(again, data)
    assert len(set(map(tuple, coordinates.T.tolist()))) == tensor.nnz
    if format in UNPADDED:
        assert tensor.nnz == int((data != 0).sum())
    copy = tulle.from_levels(tensor.format, tensor.shape, tensor.levels(), tensor.values())
    assert_equal(copy, data)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("other", [*MATRIX_FORMATS, *FORMATS])
def test_conversions(format: str, other: str) -> None:
    data = random_sparse(5, 7, seed=3)
    tensor = tulle.tensor(data, format=other).to(format=format)
    assert tensor.format == format
    assert_equal(tensor, data)
    assert_equal(tensor.to(format=other), data)


@pytest.mark.parametrize("format", FORMATS)
def test_operators(format: str) -> None:
    data, other = random_sparse(6, 8), random_sparse(6, 8, seed=1)
    a, b = tulle.tensor(data, format=format), tulle.tensor(other, format=format)
    x, wide = random_dense(8, 1)[:, 0], random_dense(8, 5)
    assert_equal(a @ x, data @ x)
    assert_equal(a @ wide, data @ wide)
    assert_equal(a + b, data + other)
    assert_equal(a * b, data * other)
    assert_equal(a * 2, data * 2)
    assert_equal(a + tulle.tensor(other, format="csr"), data + other)
    assert_equal(a @ tulle.tensor(other, format="csr").T, data @ other.T)
    assert_equal(tulle.einsum("ij->j", a), data.sum(0))
    assert_equal(tulle.einsum("ij,ij->", a, b), (data * other).sum())
    sampled = tulle.compute(
        "S[i,j] = A[i,j] * Q[i,d] * K[j,d]", A=a, Q=random_dense(6, 3), K=random_dense(8, 3)
    )
    assert_equal(sampled, data * (random_dense(6, 3) @ random_dense(8, 3).T))
    assert sampled.format == a.format


def test_explicit_zeros_are_entries_and_padding_is_none() -> None:
    inf = torch.full((4,), torch.inf, dtype=torch.float64)
    levels = [{}, {"crd": torch.tensor([0, 2, -1, 1, -1, -1])}]
    values = torch.tensor([1.0, 0, 5, 2, 5, 5], dtype=torch.float64)
    tensor = tulle.from_levels("ell(3)", (2, 4), levels, values)
    assert tensor.nnz == 3
    assert tensor.coordinates().tolist() == [[0, 0, 1], [0, 2, 1]]
    y = tensor @ inf
    assert torch.isnan(y[0])  # a stored 0 times infinity
    assert torch.isposinf(y[1])
    bits = [{}, {"bits": torch.tensor([True, False, True, False, False, True, False, False])}]
    bitmap = tulle.from_levels("bitmap", (2, 4), bits, torch.ones(8, dtype=torch.float64))
    assert bitmap.nnz == 3
    assert_equal(bitmap @ inf, inf[:2])


@pytest.mark.parametrize(
    "format", ["ell(4)", "bitmap", "(i,j) -> (j: dense, i: padded(4))", "dia", "ragged"]
)
def test_results_that_fit(format: str) -> None:
    data = torch.eye(6, dtype=torch.float64) * 3
    data[2, 4] = data[5, 1] = 7
    a = tulle.tensor(data, format="csr")
    found = tulle.compute("C[i,j] = A[i,k] * A[k,j]", A=a, out_format=format)
    assert found.format == format
    assert_equal(found, data @ data)
    assert_equal(tulle.compute("C[j,i] = A[i,j]", A=a, out_format=format), data.T)


def test_the_widest_row_is_named_where_a_result_does_not_fit() -> None:
    a = tulle.tensor(torch.ones(3, 7), format="csr")
    with pytest.raises(
        tulle.UserError,
        match=r"widest row to store has 7 entries, but.*padded\(4\).*ell\(7\)",
    ):
        a.to(format="ell(4)")
    with pytest.raises(tulle.UserError, match="7 entries"):
        tulle.compute("C[i,j] = A[i,j] * 2", A=a, out_format="ell(6)")
    assert_equal(a.to(format="ell(7)"), torch.ones(3, 7))


@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (6, 6)])
def test_diagonals_of_scipy(shape: tuple[int, int]) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    data = random_sparse(*shape, density=0.2)
    matrix = sparse.dia_array(data.numpy())
    tensor = tulle.tensor(matrix)
    assert tensor.format == "dia"
    assert_equal(tensor, data)
    back = tensor.to_scipy()
    assert back.format == "dia"
    assert (back.toarray() == data.numpy()).all()
    shuffled = sparse.dia_array((matrix.data[::-1], matrix.offsets[::-1]), shape=shape)
    assert_equal(tulle.tensor(shuffled), data)


@pytest.mark.parametrize("format", ["ell(9)", "dia", "ragged", "bitmap"])
def test_export_to_others(format: str) -> None:
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data, format=format)
    assert torch.equal(tensor.to_torch().to_dense(), data)
    pytest.importorskip("scipy.sparse")
    assert (tensor.to_scipy().toarray() == data.numpy()).all()


@pytest.mark.parametrize("format", ["ell(9)", "dia", "ragged", "bitmap"])
def test_batches(format: str) -> None:
    data = random_sparse(2, 5, 7)
    tensor = tulle.tensor(data, format=format)
    assert_equal(tensor, data)
    other = random_dense(2, 7, 3)
    assert_equal(tulle.einsum("bij,bjk->bik", tensor, other), data @ other)


def test_repr_shows_entries() -> None:
    tensor = tulle.tensor(torch.tensor([[1.0, 0, 2], [0, 0, 0]]), format="ell(3)")
    assert repr(tensor).splitlines()[1:] == ["  (0, 0): 1", "  (0, 2): 2"]
    assert "ell(3), nnz=2" in repr(tensor)


@pytest.mark.parametrize(
    ("format", "levels", "count", "message"),
    [
        ("ell(2)", [{}, {"crd": [0, 1, 2]}], 4, "`crd`|crd of level 1 has 3 elements, but 4"),
        ("ell(2)", [{}, {"crd": [-1, 0, 0, 1]}], 4, r"crd\[1\] = 0 follows the unused slot"),
        ("ell(2)", [{}, {"crd": [0, 3, 0, 1]}], 4, r"crd\[1\] = 3 is outside \[0, 3\)"),
        ("ragged", [{}, {"pos": [0, 4, 5]}], 5, r"pos\[1\] - pos\[0\] = 4 is a row longer"),
        ("ragged", [{}, {"pos": [0, 2, 3]}], 5, "values has 5 elements, but 3 are needed"),
        ("dia", [{"pos": [0, 1], "crd": [3]}, {}], 2, r"crd\[0\] = 3 is outside \[-1, 3\)"),
        ("bitmap", [{}, {"bits": [True]}], 6, "has 1 elements, but 6 are needed"),
        ("bitmap", [{}, {"crd": [1, 1, 1, 1, 1, 1]}], 6, "level 1 .* stores bits, but"),
    ],
)
def test_malformed_structure_is_refused(
    format: str, levels: list[dict[str, list[int]]], count: int, message: str
) -> None:
    arrays = [{name: torch.tensor(array) for name, array in level.items()} for level in levels]
    with pytest.raises(tulle.UserError, match=message):
        tulle.from_levels(format, (2, 3), arrays, torch.ones(count))
