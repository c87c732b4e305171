"""Indexing of sparse tensors against dense tensors: slices, integers, index tensors, masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from helpers import assert_equal, dense, random_sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

import tulle
from tulle.restructuring.entries import Entries, Source

FORMATS = [
    *("csr", "csc", "coo", "dcsr", "dcsc", "bsr(2,3)", "bsc(3,2)", "dbsr(2,3)", "ell(7)"),
    *("dell(7)", "pieces(2)", "dia", "ragged", "bitmap", "sr-bcrs(2,4)", "hyb(2,2)"),
    *("dia-csr(-1,1)", "bsr-csr(2,2)", "(i,j) -> (j: dense, i: dense)"),
    *("(i,j) -> (j: compressed nonunique, i: singleton)", "(i,j) -> (j: dense, i: padded(7))"),
    *("(i,j) -> (i: dense, j: compressed nonunique unordered)", "(i,j) -> (i: dense, j: bitmap)"),
]
BATCH_FORMATS = ["csf", "coo", "csr", "bsr(2,2)", "dia", "ell(6)", "bitmap", "hyb(2,2)"]
ROWS = torch.tensor([3, 0, 3, -1, 4])
PICK, OTHER = torch.tensor([1, 0, 1]), torch.tensor([2, 3, 0])
DATA = random_sparse(6, 7, density=0.4)

Index = Callable[[Any], Any]


def made(data: Tensor, format: str) -> tulle.SparseTensor:
    if "unordered" in format:
        ordered = tulle.tensor(data, format=format.replace(" nonunique unordered", ""))
        return tulle.from_levels(format, ordered.shape, ordered.levels(), ordered.values())
    return tulle.tensor(data, format=format)


def check(found: Any, expected: Tensor) -> None:
    """Asserts equal elements, and a valid structure."""
    assert_equal(found, expected)
    if isinstance(found, tulle.SparseTensor):
        found.pattern.validate("the result", found.values())


INDICES: dict[str, Index] = {
    "a row": lambda a: a[2],
    "the last row": lambda a: a[-1],
    "a column": lambda a: a[:, 3],
    "an element": lambda a: a[1, 2],
    "rows": lambda a: a[1:5],
    "aligned rows": lambda a: a[2:6],
    "columns": lambda a: a[..., 3:-1],
    "a block": lambda a: a[1:5, 2:6],
    "steps": lambda a: a[::2, 1::3],
    "no rows": lambda a: a[3:3],
    "no columns": lambda a: a[:, 5:2],
    "all": lambda a: a[...],
    "index tensor": lambda a: a[ROWS],
    "index list": lambda a: a[:, [5, 5, 0, -2]],
    "index array": lambda a: a[np.array([4, 1])],
    "index matrix": lambda a: a[ROWS.reshape(5, 1)],
    "two index tensors": lambda a: a[ROWS, ROWS],
    "index tensors that broadcast": lambda a: a[ROWS[:, None], ROWS[:3]],
    "no indices": lambda a: a[torch.tensor([], dtype=torch.int64)],
    "an empty list": lambda a: a[[]],
    "slice and index tensor": lambda a: a[2:, ROWS],
    "new dimension": lambda a: a[:, None, 1:],
    "new dimensions": lambda a: a[None, ..., None],
    "mask of rows": lambda a: a[torch.arange(6) % 2 == 0],
    "mask of columns": lambda a: a[:, torch.arange(7) > 2],
    "mask of elements": lambda a: a[torch.arange(42).reshape(6, 7) % 3 == 0],
    "index vector of int32": lambda a: a[ROWS.to(torch.int32)],
    "select": lambda a: a.select(1, -2),
    "narrow": lambda a: a.narrow(1, 2, 4),
    "narrow from the end": lambda a: torch.narrow(a, 0, -3, 2),
    "index_select": lambda a: torch.index_select(a, 1, torch.tensor([0, 0, 6])),
    "masked_select": lambda a: torch.masked_select(a, torch.arange(42).reshape(6, 7) % 4 == 0),
    "unbind": lambda a: a.unbind(1)[2],
    "split": lambda a: torch.split(a, 4)[1],
    "split of sizes": lambda a: a.split([1, 0, 5], 0)[2],
    "chunk": lambda a: torch.chunk(a, 3, 1)[2],
    "tensor_split": lambda a: torch.tensor_split(a, 4, 1)[1],
    "tensor_split at": lambda a: a.tensor_split([2, 5])[1],
    "hsplit": lambda a: torch.hsplit(a, 7)[3],
    "vsplit": lambda a: torch.vsplit(a, [4])[1],
}


@pytest.mark.parametrize("format", FORMATS)
def test_indices(format: str) -> None:
    tensor = made(DATA, format)
    for index in INDICES.values():
        check(index(tensor), index(DATA))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int32, torch.bool])
def test_types_are_kept(dtype: torch.dtype) -> None:
    data = DATA.to(dtype)
    for format in ("csr", "coo", "hyb(2,2)", "bsr(2,3)"):
        tensor = tulle.tensor(data, format=format)
        for index in INDICES.values():
            check(index(tensor), index(data))
    wide = tulle.tensor(DATA, index_dtype=torch.int64)
    assert wide[1:3].index_dtype == wide[ROWS].index_dtype == torch.int64


@pytest.mark.parametrize("format", BATCH_FORMATS)
def test_higher_ranks(format: str) -> None:
    for shape in [(3, 4, 6), (2, 3, 4, 6)]:
        data = random_sparse(*shape, density=0.3)
        tensor = tulle.tensor(data, format=format)
        for index in [
            lambda a: a[1],
            lambda a: a[..., 2],
            lambda a: a[1:, 0],
            lambda a: a[..., 2:4, ::2],
            lambda a: a[:, PICK],
            lambda a: a[PICK, :, OTHER],
            lambda a: a[:, PICK, OTHER],
            lambda a: a[0, :, OTHER],
            lambda a: a[1, 2, OTHER],
            lambda a: a[PICK, None, PICK],
            lambda a: a[a.shape[0] * [True], 1:2],
            lambda a: a[:, torch.ones(a.shape[1:3], dtype=torch.bool)],
        ]:
            check(index(tensor), index(data))
        assert_equal(torch.stack([part[0] for part in tensor]), data[:, 0])


@pytest.mark.parametrize(
    "format",
    [
        "(i,j,k) -> (k: compressed nonunique, i: singleton, j: dense)",
        "(i,j,k) -> (j: dense, k: compressed nonunique, i: singleton)",
        "(i,j,k) -> (i: dense, k/2: compressed, j/3: compressed, k%2: dense, j%3: dense)",
        "(i,j,k) -> (j: compressed, k-i: compressed, i: range)",
        "(i,j,k) -> (i/2: compressed, j: compressed, k/2: compressed, i%2: dense, k%2: dense)",
        "(i,j,k) -> (i: compressed, j: dense, k: padded(6))",
        "(i,j,k) -> (j: compressed, i: dense, k: ragged)",
        "(i,j,k) -> (i: compressed, j: compressed, k: bitmap)",
        "(i,j,k) -> (i: compressed, j: dense, k: compressed multiple(3))",
    ],
)
def test_formats_of_any_levels(format: str) -> None:
    data = random_sparse(4, 5, 6)
    tensor = tulle.tensor(data, format=format)
    for index in [
        lambda a: a[1],
        lambda a: a[:, 2],
        lambda a: a[..., -1],
        lambda a: a[2:4],
        lambda a: a[1:, :, ::2],
        lambda a: a[:, PICK],
        lambda a: a[..., OTHER],
        lambda a: a[:, PICK, OTHER],
        lambda a: a[:, None, 1:3, 4],
        lambda a: torch.cat([a, a], 2),
        lambda a: torch.stack([a, a], 1),
        lambda a: a.reshape(4, -1),
        lambda a: a.flip(1),
        lambda a: a.tril(),
        lambda a: a.diagonal(1, 0, 2),
        lambda a: a.repeat(2, 1, 3),
    ]:
        check(index(tensor), index(data))


def test_vectors() -> None:
    data = random_sparse(9, density=0.5)
    vector = tulle.tensor(data, format="coo")
    for index in [2, slice(1, 7), slice(None, None, 3), None, ROWS, data > 2, ..., [0, 0]]:
        check(vector[index], data[index])
    assert [float(element) for element in vector] == data.tolist()
    assert vector[3].shape == ()


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0), (1, 1)])
def test_small_and_empty_tensors(shape: tuple[int, int]) -> None:
    data = random_sparse(*shape, density=1)
    for format in ("csr", "csc", "coo", "dcsr", "bsr(2,3)", "dia", "bitmap", "ell(4)"):
        tensor = tulle.tensor(data, format=format)
        for index in [
            lambda a: a[:0],
            lambda a: a[:, ::2],
            lambda a: a[None],
            lambda a: a[torch.zeros(0, dtype=torch.int64)],
            lambda a: a[a.shape[0] * [True]],
        ]:
            check(index(tensor), index(data))


def slices(size: int) -> st.SearchStrategy[slice]:
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = st.none() | st.integers(-3, 3).filter(bool)
    return st.builds(slice, bound, bound, step)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(FORMATS), st.lists(st.integers(0, 7), min_size=1, max_size=4))
def test_slices_are_those_of_numpy(drawn: Any, format: str, shape: list[int]) -> None:
    data = random_sparse(*shape, density=0.5)
    if len(shape) == 1 or "->" in format or (len(shape) > 2 and "{" in format):
        format = "coo"
    tensor = made(data, format)
    items: list[Any] = [
        drawn.draw(slices(size) | (st.integers(-size, size - 1) if size else st.just(slice(None))))
        for size in shape
    ]
    items = items[: drawn.draw(st.integers(0, len(items)))]
    if drawn.draw(st.booleans()):
        items.insert(drawn.draw(st.integers(0, len(items))), None)
    expected = torch.tensor(np.array(data.numpy()[tuple(items)], order="C"))
    check(tensor[tuple(items)], expected)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.sampled_from(["csr", "csc", "coo", "csf", "bitmap"]), st.integers(1, 4))
def test_index_tensors_are_those_of_torch(drawn: Any, format: str, rank: int) -> None:
    shape = drawn.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    data = random_sparse(*shape, density=0.5)
    tensor = tulle.tensor(data, format=format if rank > 1 else "coo")
    items: list[Any] = []
    for size in shape:
        kind = drawn.draw(st.sampled_from(["slice", "index", "integer", "tensor", "new"]))
        index = st.integers(-size, size - 1)
        if kind == "slice":
            items.append(slice(drawn.draw(index), None, drawn.draw(st.integers(1, 2))))
        elif kind == "integer":
            items.append(drawn.draw(index))
        elif kind == "new":
            items += [None, slice(None)]
        else:
            picks = torch.tensor([drawn.draw(index) for _ in range(3)])
            items.append(picks if kind == "index" else picks.reshape(3, 1))
    check(tensor[tuple(items)], data[tuple(items)])


# ---- sparse masks ------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csr", "coo", "bsr(2,3)", "hyb(2,2)"])
def test_sparse_masks(format: str) -> None:
    mask = random_sparse(6, 7, seed=5) > 0
    stored = tulle.tensor(mask, format=format)
    stored = stored.with_values(stored.values() & (torch.arange(stored.values().numel()) % 3 > 0))
    mask = stored.to_dense()
    for tensor in (tulle.tensor(DATA), tulle.tensor(DATA, format="dia")):
        check(tensor[stored], DATA[mask])
        check(tensor.masked_select(stored), DATA[mask])
    with pytest.raises(tulle.UserError, match="mask"):
        tulle.tensor(DATA)[tulle.tensor(DATA)]


# ---- gradients ---------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_gradients(format: str) -> None:
    tensor = made(DATA, format)
    values = tensor.values().clone().requires_grad_()
    indices = [INDICES[name] for name in ("a row", "a block", "index list", "two index tensors")]

    def chosen(values: Tensor) -> tuple[Tensor, ...]:
        own = tensor.with_values(values)
        return tuple(dense(index(own)) for index in indices)

    assert gradcheck(chosen, values, fast_mode=True)
    assert gradgradcheck(chosen, values, fast_mode=True)


def test_gradients_of_elements_and_forward_mode() -> None:
    tensor = tulle.tensor(DATA)
    values = tensor.values().clone().requires_grad_()
    row, column = (int(at) for at in DATA.nonzero()[3])
    tensor.with_values(values)[row, column].backward()
    assert values.grad is not None
    assert values.grad.nonzero().tolist() == [[3]]
    tangent = torch.rand_like(values)
    _, moved = torch.func.jvp(
        lambda v: tensor.with_values(v)[1:4].values(), (values.detach(),), (tangent,)
    )
    torch.testing.assert_close(moved, tensor.with_values(tangent)[1:4].values())
    batch = torch.rand(3, values.numel(), dtype=torch.float64)
    mapped = torch.vmap(lambda v: tensor.with_values(v)[ROWS].values())(batch)
    torch.testing.assert_close(mapped[1], tensor.with_values(batch[1])[ROWS].values())


# ---- storage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "index", "expected"),
    [
        *(("csr", rows, "csr") for rows in (slice(1, 4), slice(None, None, -2), ROWS)),
        *(("csc", rows, "csc") for rows in (slice(1, 4), ROWS)),
        ("csr", 2, "coo"),
        ("csc", 2, "coo"),
        ("coo", slice(1, 4), "coo"),
        ("coo", None, "coo"),
        ("bsr(2,3)", slice(2, 4), "bsr(2,3)"),
        ("bsr(2,3)", slice(1, 4), "csr"),
        ("bsr(2,3)", 2, "(j) -> (j/3: compressed, j%3: dense)"),
        ("dia", slice(1, 4), "dia"),
        ("dia", ROWS, "csr"),
        ("ell(7)", ROWS, "ell(7)"),
        ("ell(7)", (slice(None), ROWS), "csr"),
        ("hyb(2,2)", slice(1, 4), "hyb(2,2)"),
        ("hyb(2,2)", ROWS, "csr"),
        ("dcsr", ROWS.reshape(5, 1), "csf"),
    ],
)
def test_formats_of_results(format: str, index: Any, expected: str) -> None:
    found = tulle.tensor(DATA, format=format)[index]
    assert found.format == expected
    check(found, DATA.flip(0)[::2] if index == slice(None, None, -2) else DATA[index])


def test_explicit_zeros_remain() -> None:
    levels = [{}, {"pos": torch.tensor([0, 2, 3, 3]), "crd": torch.tensor([0, 2, 1])}]
    tensor = tulle.from_levels("csr", (3, 3), levels, torch.tensor([0.0, 5.0, 0.0]))
    assert tensor[:2].nnz == 3
    assert tensor[:, ::-1].nnz == 3
    assert tensor[torch.tensor([0, 0])].nnz == 4
    assert tensor.reshape(9).nnz == 3
    assert tensor.tril().nnz == 2


@pytest.mark.parametrize(
    "format", ["csr", "ell(7)", "bitmap", "ragged", "pieces(2)", "dcsr", "coo", "bsr(2,3)"]
)
def test_rows_are_found_without_looking_at_all_entries(
    format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tensor = tulle.tensor(DATA, format=format)
    entries = Source.entries
    most = tensor.values().numel()

    def some_entries(source: Source, places: Tensor | None = None) -> Entries:
        assert places is not None and places.numel() < most
        return entries(source, places)

    monkeypatch.setattr(Source, "entries", some_entries)
    for index in (slice(1, 4), slice(0, 0), slice(4, None), (slice(1, 3), slice(2, 5))):
        check(tensor[index], DATA[index])
    for row in range(6):
        check(tensor[row], DATA[row])
    check(tensor.T[:, 2:4], DATA.T[:, 2:4])
    if format in ("csr", "ell(7)", "bitmap", "ragged"):
        check(tensor[ROWS], DATA[ROWS])
        check(tensor[::-2], DATA.flip(0)[::2])


def test_dimensions_whose_product_exceeds_64_bits() -> None:
    size = 2**40
    outer = {"pos": torch.tensor([0, 3]), "crd": torch.tensor([5, 7, size - 1])}
    inner = {"crd": torch.tensor([size - 3, size - 3, 2])}
    values = torch.tensor([1.0, 3.0, 2.0])
    tensor = tulle.from_levels("coo", (size, size), [outer, inner], values)
    assert tensor[:, size - 3].nnz == 2
    assert tensor[::-1].coordinates()[0].tolist() == [0, size - 8, size - 6]
    found = tensor[torch.tensor([7, 5, 6]), torch.tensor([size - 3, size - 3, 0])]
    assert found.tolist() == [3, 1, 0]
    assert torch.cat([tensor, tensor]).nnz == 6
    with pytest.raises(tulle.Unsupported, match="reshape"):
        tensor.reshape(-1)


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (6, "index 6 is out of range: dimension 0 has the size 6"),
        ((0, -8), "index -8 is out of range: dimension 1 has the size 7"),
        (torch.tensor([0, 9]), "index 9 is out of range: dimension 0"),
        ((0, 0, 0), "3 dimensions, but the tensor has rank 2"),
        (slice(0, 3, 0), "step 0"),
        (slice(0.5, 3), "must be integers"),
        ("row", "found str"),
        ([slice(0, 1), 2], "list as an index"),
        (1.5, "found float"),
        (torch.tensor([0.5]), "torch.float32"),
        (torch.zeros(5, dtype=torch.bool), "mask has the shape"),
        ((..., ...), "more than once"),
        ((torch.tensor([0, 1]), torch.tensor([0, 1, 2])), "do not broadcast"),
    ],
)
def test_invalid_indices(index: Any, message: str) -> None:
    with pytest.raises(tulle.UserError, match=message):
        tulle.tensor(DATA)[index]


def test_errors_for_indices_are_also_those_of_python() -> None:
    with pytest.raises(IndexError):
        tulle.tensor(DATA)[17]
    with pytest.raises(tulle.UserError, match=r"split.*add up"):
        tulle.tensor(DATA).split([1, 2])
    with pytest.raises(IndexError, match="narrow: dimension 0 has the size 6"):
        tulle.tensor(DATA).narrow(0, 4, 3)
    with pytest.raises(tulle.Unsupported, match="truth value"):
        tulle.tensor(DATA)[True]


@pytest.mark.parametrize("format", FORMATS)
def test_masks_with_the_same_entries(format: str) -> None:
    tensor = made(DATA, format)
    tensor = tensor.with_values(tensor.values().clone()).requires_grad_()
    mask = tensor.detach() > 2
    found = tensor[mask]
    assert_equal(found.detach(), DATA[DATA > 2])
    assert_equal(tensor.detach()[tensor.detach() == 0], DATA[DATA == 0])
    (found * torch.arange(found.numel())).sum().backward()
    expected = torch.zeros_like(DATA)
    expected[DATA > 2] = torch.arange(found.numel()).double()
    assert tensor.grad is not None
    assert_equal(tensor.detach().with_values(tensor.grad), expected)


@pytest.mark.parametrize("format", FORMATS)
def test_coordinates_of_elements_that_are_not_zero(format: str) -> None:
    tensor = made(DATA, format)
    tensor.values()[:2] = 0
    data = tensor.to_dense()
    for found in (tensor.nonzero(), torch.nonzero(tensor), torch.argwhere(tensor)):
        assert torch.equal(found, data.nonzero())
    for found in (tensor.nonzero(as_tuple=True), torch.where(tensor)):
        for one, other in zip(found, data.nonzero(as_tuple=True), strict=True):
            assert torch.equal(one, other)
