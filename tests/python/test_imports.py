"""Imports: values are unchanged, equal storage is not copied, invalid structure is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
from helpers import DTYPES, INDEX_DTYPES, MATRIX_FORMATS, assert_equal, random_sparse
from torch import Tensor

import tulle


def pointers(tensor: tulle.SparseTensor) -> list[int]:
    """The addresses of the arrays except the two positions of COO."""
    arrays = [*tensor.pattern.arrays, tensor.values()]
    return [array.data_ptr() for array in arrays if tensor.format != "coo" or array.numel() != 2]


# ---- dense ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", MATRIX_FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dense(format: str, dtype: torch.dtype) -> None:
    data = random_sparse(6, 7, dtype=dtype)
    tensor = tulle.tensor(data, format=format)
    assert tensor.format == format
    assert tensor.index_dtype == torch.int32
    assert_equal(tensor, data)


def test_dense_stores_what_is_not_zero() -> None:
    data = torch.tensor([[0.0, float("nan")], [-0.0, 3.0]])
    assert tulle.tensor(data).nnz == 2


def test_default_formats_of_dense_data() -> None:
    assert tulle.tensor(torch.eye(2)).format == "csr"
    assert tulle.tensor(torch.ones(2, 2, 2)).format == "csf"
    assert tulle.tensor(torch.ones(3)).ndim == 1


def test_dense_as_format_is_an_ordinary_tensor() -> None:
    data = torch.eye(2)
    assert tulle.tensor(data, format="dense") is data
    sparse = tulle.tensor(data)
    assert_equal(sparse.to(format="dense"), data)


def test_lists_and_arrays() -> None:
    assert_equal(tulle.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
    array = np.array([[0, 3], [4, 0]])
    assert_equal(tulle.tensor(array, format="csc"), torch.from_numpy(array))


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0), (1, 1)])
@pytest.mark.parametrize("format", MATRIX_FORMATS)
def test_empty(shape: tuple[int, int], format: str) -> None:
    data = torch.zeros(shape)
    tensor = tulle.tensor(data, format=format)
    assert_equal(tensor, data)


@pytest.mark.parametrize("data", [None, "csr", {}, object(), [[1.0, 2.0], [3.0]], [None]])
def test_what_is_no_tensor_is_refused(data: Any) -> None:
    with pytest.raises(tulle.UserError, match="tensor: expected a tensor, an array or nested"):
        tulle.tensor(data)


def test_scalars_are_refused() -> None:
    with pytest.raises(tulle.UserError, match="scalar"):
        tulle.tensor(torch.tensor(1.0))


# ---- torch.sparse --------------------------------------------------------------------------------


def torch_compressed(layout: str, data: Tensor, index_dtype: torch.dtype) -> Tensor:
    """The dense tensor in one of torch's compressed layouts."""
    if layout == "csr":
        made = data.to_sparse_csr()
        structure = made.crow_indices(), made.col_indices()
    elif layout == "csc":
        made = data.to_sparse_csc()
        structure = made.ccol_indices(), made.row_indices()
    elif layout == "bsr":
        made = data.to_sparse_bsr((2, 3))
        structure = made.crow_indices(), made.col_indices()
    else:
        made = data.to_sparse_bsc((2, 3))
        structure = made.ccol_indices(), made.row_indices()
    pos, crd = (array.to(index_dtype) for array in structure)
    make = getattr(torch, f"sparse_{layout}_tensor")
    return make(pos, crd, made.values(), data.shape)


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "bsc"])
@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_compressed(layout: str, index_dtype: torch.dtype, dtype: torch.dtype) -> None:
    data = random_sparse(6, 9, dtype=dtype)
    source = torch_compressed(layout, data, index_dtype)
    tensor = tulle.tensor(source)
    assert str(tensor.format).startswith(layout)
    assert tensor.index_dtype == index_dtype
    assert_equal(tensor, data)
    if layout in ("csr", "bsr"):
        structure = source.crow_indices(), source.col_indices()
    else:
        structure = source.ccol_indices(), source.row_indices()
    assert pointers(tensor) == [each.data_ptr() for each in (*structure, source.values())]


def test_torch_coo_is_not_copied() -> None:
    data = random_sparse(6, 9)
    source = data.to_sparse_coo()
    tensor = tulle.tensor(source)
    assert tensor.format == "coo"
    assert_equal(tensor, data)
    rows, columns = source.indices()
    assert pointers(tensor) == [each.data_ptr() for each in (rows, columns, source.values())]


def test_unsorted_torch_coo_is_sorted_and_summed() -> None:
    indices = torch.tensor([[2, 0, 2, 0], [1, 3, 1, 0]])
    source = torch.sparse_coo_tensor(indices, torch.tensor([1.0, 2.0, 3.0, 4.0]), (3, 4))
    tensor = tulle.tensor(source)
    assert tensor.format == "coo"
    assert tensor.coordinates().tolist() == [[0, 0, 2], [0, 3, 1]]
    assert tensor.values().tolist() == [4.0, 2.0, 4.0]


def test_the_flag_is_coalesced_is_not_trusted() -> None:
    indices = torch.tensor([[1, 0], [0, 0]])
    source = torch.sparse_coo_tensor(indices, torch.tensor([1.0, 2.0]), (2, 2), is_coalesced=True)
    assert tulle.tensor(source).coordinates().tolist() == [[0, 1], [0, 0]]


def test_torch_coo_of_rank_three_and_with_dense_dimensions() -> None:
    data = random_sparse(3, 4, 5)
    assert_equal(tulle.tensor(data.to_sparse_coo()), data)
    hybrid = data.to_sparse_coo().coalesce().to_dense().to_sparse(2)
    tensor = tulle.tensor(hybrid)
    assert tensor.format.levels[-1].full
    assert tensor.values().data_ptr() == hybrid.values().data_ptr()
    assert_equal(tensor, data)


def test_torch_batches() -> None:
    data = torch.stack([torch.eye(3), torch.eye(3).flip(0)]).to(torch.float64)
    source = data.to_sparse_csr()
    tensor = tulle.tensor(source)
    assert tensor.format == tulle.Format("csr", 3)
    assert_equal(tensor, data)


@pytest.mark.parametrize(
    ("pos", "crd", "message"),
    [
        ([0, 2, 1, 3], [0, 1, 2], "positions must ascend"),
        ([1, 1, 2, 3], [0, 1, 2], "positions start at 0"),
        ([0, 1, 2, 2], [0, 1, 2], "the last position must be their number"),
        ([0, 1, 2, 3], [0, 1, 3], r"crd\[2\] = 3 is outside \[0, 3\)"),
        ([0, 1, 2, 3], [0, -1, 2], r"crd\[1\] = -1 is outside"),
        ([0, 2, 2, 3], [1, 0, 2], "the coordinates of a segment must ascend"),
        ([0, 2, 2, 3], [1, 1, 2], "the same coordinates"),
    ],
)
def test_broken_torch_structure_is_refused(pos: list[int], crd: list[int], message: str) -> None:
    source = torch.sparse_csr_tensor(
        torch.tensor(pos), torch.tensor(crd), torch.ones(3), (3, 3), check_invariants=False
    )
    with pytest.raises(tulle.UserError, match=f"sparse_csr tensor.*{message}"):
        tulle.tensor(source)


def test_broken_coordinates_are_refused() -> None:
    indices = torch.tensor([[0, 5], [0, 1]])
    source = torch.sparse_coo_tensor(indices, torch.ones(2), (3, 3), check_invariants=False)
    with pytest.raises(tulle.UserError, match=r"COO tensor.*crd\[1\] = 5 is outside"):
        tulle.tensor(source)


# ---- SciPy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_scipy(format: str, kind: str) -> None:
    data = random_sparse(6, 9)
    source = getattr(scipy.sparse, f"{format}_{kind}")(data.numpy())
    tensor = tulle.tensor(source)
    assert_equal(tensor, data)
    if format in ("csr", "csc", "bsr"):
        arrays = source.indptr, source.indices, source.data
        theirs = [array.ctypes.data for array in arrays]
        assert pointers(tensor)[2] == theirs[2]  # the values; structure of NumPy is copied
        assert pointers(tulle.tensor(source, copy=False)) == theirs
        assert tensor.index_dtype == torch.int32


def test_scipy_coo_is_not_copied_if_the_caller_says_so() -> None:
    data = random_sparse(6, 9)
    source = scipy.sparse.coo_array(data.numpy())
    tensor = tulle.tensor(source, copy=False)
    arrays = (*source.coords, source.data)
    assert pointers(tensor) == [array.ctypes.data for array in arrays]


def test_unsorted_scipy_is_sorted_and_summed() -> None:
    pos, crd = np.array([0, 3, 4], dtype=np.int32), np.array([2, 0, 2, 1], dtype=np.int32)
    source = scipy.sparse.csr_array((np.array([1.0, 2.0, 3.0, 4.0]), crd, pos), shape=(2, 3))
    tensor = tulle.tensor(source)
    assert tensor.format == "csr"
    assert tensor.pattern.arrays[1].tolist() == [0, 2, 1]
    assert tensor.values().tolist() == [2.0, 4.0, 4.0]
    assert source.indices.tolist() == [2, 0, 2, 1]


def test_broken_scipy_structure_is_refused() -> None:
    source = scipy.sparse.csr_array(np.eye(3))
    source.indices[1] = 7
    with pytest.raises(tulle.UserError, match=r"SciPy csr matrix.*crd\[1\] = 7 is outside"):
        tulle.tensor(source)


# ---- index types, levels -------------------------------------------------------------------------


@pytest.mark.parametrize("index_dtype", INDEX_DTYPES)
def test_index_dtype_is_as_asked(index_dtype: torch.dtype) -> None:
    data = random_sparse(5, 6)
    for source in (data, data.to_sparse_csr(), scipy.sparse.csr_array(data.numpy())):
        tensor = tulle.tensor(source, index_dtype=index_dtype)
        assert tensor.index_dtype == index_dtype
        assert all(array.dtype == index_dtype for array in tensor.pattern.arrays)
        assert_equal(tensor, data)


def test_other_index_dtypes_are_refused() -> None:
    with pytest.raises(tulle.UserError, match=r"int32 or torch\.int64"):
        tulle.tensor(torch.eye(2), index_dtype=torch.int16)


def csr_levels() -> list[dict[str, Any]]:
    return [{}, {"pos": torch.tensor([0, 1, 3]), "crd": torch.tensor([2, 0, 1])}]


def test_from_levels_takes_the_arrays() -> None:
    levels, values = csr_levels(), torch.tensor([1.0, 2.0, 3.0])
    tensor = tulle.from_levels("csr", (2, 3), levels, values)
    assert_equal(tensor, torch.tensor([[0.0, 0.0, 1.0], [2.0, 3.0, 0.0]]))
    assert tensor.values().data_ptr() == values.data_ptr()
    assert tensor.pattern.arrays[0].data_ptr() == levels[1]["pos"].data_ptr()
    assert [sorted(level) for level in tensor.levels()] == [[], ["crd", "pos"]]


def test_from_levels_unifies_index_types() -> None:
    levels = csr_levels()
    levels[1]["pos"] = levels[1]["pos"].to(torch.int32)
    tensor = tulle.from_levels("csr", (2, 3), levels, [1.0, 2.0, 3.0])
    assert tensor.index_dtype == torch.int64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": [{}]}, "has 2 levels, but 1 were given"),
        ({"levels": [{}, {"crd": [0]}]}, "level 1 .* stores pos and crd"),
        ({"levels": [{"pos": [0]}, {"pos": [0], "crd": [0]}]}, "level 0 .* stores nothing"),
        ({"levels": {"pos": [0], "crd": [0]}}, "a list with a dict for each level"),
        ({"levels": ["pos", "crd"]}, "a list with a dict for each level"),
        ({"values": [1.0]}, "1 elements, but 3 are needed: one for each"),
        ({"values": [[1.0, 2.0, 3.0]]}, "expected a vector"),
        ({"shape": (3, 3)}, "one more than the level above"),
        ({"shape": (2, 2)}, r"crd\[0\] = 2 is outside"),
        ({"format": "dense"}, "has no structure"),
        ({"format": (2, 3), "shape": "csr"}, r"expected text such as 'csr', .* found \(2, 3\)"),
        ({"shape": "csr"}, "expected a shape"),
        ({"shape": (2.5, 3)}, "expected a shape"),
        ({"shape": (-2, 3)}, "must not be negative"),
        ({"levels": [{}, {"pos": [0.0, 1.0, 3.0], "crd": [2, 0, 1]}]}, "int32 or int64"),
    ],
)
def test_wrong_levels_are_refused(change: dict[str, Any], message: str) -> None:
    given = {"format": "csr", "shape": (2, 3), "levels": csr_levels(), "values": [1.0, 2.0, 3.0]}
    with pytest.raises(tulle.UserError, match=message):
        tulle.from_levels(**(given | change))


def test_unsupported_values_are_refused() -> None:
    with pytest.raises(tulle.Unsupported, match="complex64"):
        tulle.tensor(torch.eye(2, dtype=torch.complex64))
    with pytest.raises(tulle.Unsupported, match="uint8"):
        tulle.tensor(torch.eye(2, dtype=torch.uint8).to_sparse_csr())


def test_unsupported_arrays_are_refused() -> None:
    for dtype in (np.complex64, np.longdouble):
        with pytest.raises(tulle.Unsupported, match="NumPy's type"):
            tulle.tensor(scipy.sparse.csr_array(np.eye(2), dtype=dtype))


def as_layout(layout: str, data: Tensor) -> Tensor:
    """The dense tensor in a layout of torch, recorded by autograd."""
    if layout == "dense":
        return data
    if layout == "coo":
        return data.to_sparse()
    block = [(2, 3)] if layout.startswith("bs") else []
    result: Tensor = getattr(data, f"to_sparse_{layout}")(*block)
    return result


@pytest.mark.parametrize("layout", ["dense", "coo", "csr", "csc", "bsr", "bsc"])
@pytest.mark.parametrize("format", [None, *MATRIX_FORMATS, "dia", "hyb(2,2)"])
def test_autograd_follows_imports(layout: str, format: str | None) -> None:
    data = random_sparse(6, 9)
    other = torch.rand(9, 2, dtype=torch.float64)
    mine, expected = data.clone().requires_grad_(), data.clone().requires_grad_()
    tensor = tulle.tensor(as_layout(layout, mine), format=format)
    assert tensor.requires_grad
    (tensor @ other).square().sum().backward()
    (expected @ other).square().sum().backward()
    assert mine.grad is not None and expected.grad is not None
    torch.testing.assert_close(mine.grad.to_dense() * (data != 0), expected.grad * (data != 0))
    with torch.no_grad():
        assert not tulle.tensor(as_layout(layout, mine)).requires_grad


def test_autograd_follows_leaves_and_duplicates() -> None:
    source = torch.eye(2).to_sparse_csr().requires_grad_()
    tulle.tensor(source).values().square().sum().backward()
    assert source.grad is not None
    assert_equal(source.grad.to_dense(), 2 * torch.eye(2))
    weights = torch.ones(3, requires_grad=True)
    pairs = torch.tensor([[1, 0, 1], [1, 0, 1]])
    tensor = tulle.tensor(torch.sparse_coo_tensor(pairs, weights, (2, 2)))
    tensor.values().square().sum().backward()
    assert weights.grad is not None
    assert_equal(weights.grad, torch.tensor([4.0, 2.0, 4.0]))


def test_transforms_follow_imports() -> None:
    data = random_sparse(6, 9)
    other = torch.rand(9, 2, dtype=torch.float64)

    def product(dense: Tensor) -> Tensor:
        result: Tensor = tulle.tensor(dense) @ other
        return result

    gradient = torch.func.grad(lambda dense: product(dense).sum())(data)
    assert_equal(gradient, other.sum(1).expand(6, 9) * (data != 0))
    _, tangent = torch.func.jvp(product, (data,), (data,))
    assert_equal(tangent, data @ other)


def test_scipy_blocks_in_any_order_and_several_times() -> None:
    unsorted = scipy.sparse.random(50, 50, 0.05, format="csr", random_state=0).tobsr((5, 5))
    assert_equal(tulle.tensor(unsorted), torch.from_numpy(unsorted.toarray()))
    twice = scipy.sparse.bsr_matrix(
        (np.arange(8.0).reshape(2, 2, 2), np.array([1, 1]), np.array([0, 2, 2])), shape=(4, 4)
    )
    assert_equal(tulle.tensor(twice), torch.from_numpy(twice.toarray()))


def test_torch_rows_of_vectors_that_are_not_coalesced() -> None:
    where = torch.tensor([[2, 0, 2]])
    data = torch.sparse_coo_tensor(where, torch.rand(3, 4), (3, 4))
    assert_equal(tulle.tensor(data), data.to_dense())


def test_types_devices_and_gradients_of_imports() -> None:
    data = random_sparse(4, 5)
    for given in (data, data.to_sparse_csr(), scipy.sparse.csr_array(data.numpy()), data.tolist()):
        found = tulle.tensor(given, dtype=torch.float32, device="cpu", requires_grad=True)
        assert_equal(found.detach(), data.float())
        assert found.is_leaf and found.requires_grad
    assert not data.requires_grad
    shared = data.to_sparse_csr()
    assert tulle.tensor(shared, requires_grad=True).requires_grad
    assert not shared.requires_grad and not shared.values().requires_grad
    x = data.clone().requires_grad_()
    tulle.tensor(x, requires_grad=True, dtype=torch.float32).values().sum().backward()
    assert_equal(x.grad, (data != 0).double())
    assert tulle.tensor([[0.1, 0]], dtype=torch.float64).values().tolist() == [0.1]
    dense = tulle.tensor(data, "dense", dtype=torch.float32, requires_grad=True)
    assert dense.dtype == torch.float32 and dense.requires_grad
    with pytest.raises(tulle.Unsupported):
        tulle.tensor(data, dtype=torch.complex64)
