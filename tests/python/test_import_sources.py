"""Imports of arrays in any memory layout, of SciPy's classes, and of graphs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
from helpers import assert_equal, random_sparse
from torch import Tensor

import tulle

# ---- torch's tensors with strided, expanded and negated arrays -----------------------------------

PAIRS = torch.tensor([[0, 1], [1, 2], [2, 0], [0, 3]])
WEIGHTS = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
DIAGONAL = torch.tensor([[0, 1, 2], [0, 1, 2]])
NEGATED = torch.complex(torch.ones(3), torch.arange(3.0)).conj().imag  # torch negates it lazily


def coo(indices: Tensor, values: Tensor, shape: tuple[int, ...], **options: Any) -> Tensor:
    return torch.sparse_coo_tensor(indices, values, shape, **options)


POSITIONS = torch.arange(0, 12)[::3]
COLUMNS = torch.tensor([0, 1, 2] * 3)
SOURCES: dict[str, Callable[[], Tensor]] = {
    "transposed indices": lambda: coo(PAIRS.t(), WEIGHTS, (3, 4)),
    "transposed sorted indices": lambda: coo(DIAGONAL.T.contiguous().T, NEGATED + 0, (3, 3)),
    "coalesced": lambda: coo(PAIRS.t(), WEIGHTS, (3, 4)).coalesce(),
    "expanded values": lambda: coo(DIAGONAL, torch.ones(1).expand(3), (3, 3)),
    "strided values": lambda: coo(DIAGONAL, torch.arange(6.0)[::2], (3, 3)),
    "negated values": lambda: coo(DIAGONAL, NEGATED, (3, 3)),
    "expanded rows": lambda: coo(DIAGONAL, torch.ones(1, 1).expand(3, 2), (3, 3, 2)),
    "csr": lambda: torch.sparse_csr_tensor(POSITIONS, COLUMNS, torch.arange(18.0)[::2], (3, 3)),
    "expanded csr": lambda: torch.sparse_csr_tensor(
        POSITIONS, COLUMNS, torch.ones(1).expand(9), (3, 3)
    ),
    "transposed blocks": lambda: torch.sparse_bsr_tensor(
        torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.arange(8.0).view(2, 2, 2).mT, (4, 4)
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_torch_tensors_with_any_arrays(name: str) -> None:
    source = SOURCES[name]()
    tensor = tulle.tensor(source)
    assert all(array.is_contiguous() for array in tensor.pattern.arrays)
    assert tensor.values().is_contiguous()
    assert_equal(tensor, source.to_dense())
    x = torch.rand(source.shape[1], 2, dtype=source.dtype)
    if source.ndim == 2:
        assert_equal(tensor @ x, source.to_dense() @ x)


def test_arrays_of_storage_in_any_layout() -> None:
    strided = torch.stack([COLUMNS, COLUMNS], 1)[:, 0]
    levels = [{}, {"pos": POSITIONS, "crd": strided}]
    tensor = tulle.from_levels("csr", (3, 3), levels, torch.arange(18.0)[::2])
    assert_equal(tensor, torch.arange(18.0)[::2].view(3, 3))
    tensor = tulle.from_levels("csr", (3, 3), levels, torch.ones(1).expand(9))
    assert_equal(tensor, torch.ones(3, 3))
    diagonal = [{}, {"pos": torch.arange(4), "crd": torch.arange(3)}]
    assert_equal(tulle.from_levels("csr", (3, 3), diagonal, NEGATED), torch.diag(NEGATED))
    assert_equal(tulle.tensor(torch.diag(NEGATED)), torch.diag(NEGATED))
    assert_equal(tulle.tensor(torch.ones(1, 3).expand(3, 3)), torch.ones(3, 3))


def test_complex_numbers_are_unsupported() -> None:
    for source in (torch.eye(2, dtype=torch.complex64).conj(), np.eye(2, dtype=np.complex128)):
        with pytest.raises(tulle.Unsupported, match="complex"):
            tulle.tensor(source)


# ---- NumPy ---------------------------------------------------------------------------------------


def read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "reversed rows": lambda array: array[::-1],
    "reversed columns": lambda array: array[:, ::-1],
    "transposed": lambda array: array.T,
    "strided": lambda array: array[::2, 1:],
    "by column": np.asfortranarray,
    "other byte order": lambda array: array.astype(">f8"),
    "read-only": read_only,
    "matrix": np.asmatrix,
    "float32": lambda array: array.astype(np.float32),
    "int64": lambda array: array.astype(np.int64),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_numpy_arrays_in_any_layout(name: str) -> None:
    array = ARRAYS[name](random_sparse(5, 7).numpy())
    native = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    expected = torch.from_numpy(native)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_equal(tulle.tensor(array), expected)
        assert_equal(tulle.tensor(array, format="csc"), expected)
        if expected.dtype == torch.float64:
            assert_equal(tulle.eye(len(array), dtype=expected.dtype) @ array, expected)


# ---- SciPy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("suffix", ["array", "matrix"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_every_class_of_scipy(kind: str, suffix: str, index: Any) -> None:
    data = random_sparse(6, 9)
    matrix = getattr(scipy.sparse, f"{kind}_{suffix}")(data.numpy())
    for name in ("indices", "indptr", "offsets"):
        if hasattr(matrix, name):
            setattr(matrix, name, getattr(matrix, name).astype(index))
    assert_equal(tulle.tensor(matrix), data)
    assert_equal(tulle.tensor(matrix, format="csc"), data)


def test_scipy_arrays_that_are_no_matrices() -> None:
    vector = np.array([0.0, 1.0, 0.0, 2.0])
    for kind in ("coo", "csr", "dok"):
        array = getattr(scipy.sparse, f"{kind}_array")(vector)
        assert_equal(tulle.tensor(array), torch.from_numpy(vector))
    cube = random_sparse(2, 3, 4)
    assert_equal(tulle.tensor(scipy.sparse.coo_array(cube.numpy())), cube)


def test_scipy_matrices_that_are_not_canonical() -> None:
    indices, indptr = np.array([2, 0, 2, 1]), np.array([0, 3, 3])
    for kind, shape in (("csr", (2, 3)), ("csc", (3, 2))):
        make = getattr(scipy.sparse, f"{kind}_array")
        matrix = make((np.array([1.0, 2, 3, 9]), indices, indptr), shape=shape)  # 9 is not used
        assert_equal(tulle.tensor(matrix), torch.from_numpy(matrix.toarray()))
        matrix.data = np.arange(16.0)[::4]
        assert_equal(tulle.tensor(matrix), torch.from_numpy(matrix.toarray()))
    twice = scipy.sparse.coo_array((np.ones(3), ([1, 0, 1], [2, 1, 2])), shape=(2, 3))
    assert_equal(tulle.tensor(twice), torch.from_numpy(twice.toarray()))


# ---- graphs --------------------------------------------------------------------------------------


def test_graphs_of_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    graphs = [
        networkx.path_graph(4),
        networkx.karate_club_graph(),
        networkx.DiGraph([(0, 1), (2, 1)]),
        networkx.MultiGraph([(0, 1), (0, 1), (2, 2)]),
        networkx.MultiDiGraph([(0, 1), (0, 1), (2, 2)]),
        networkx.Graph([("a", "b", {"weight": 2.5}), ("b", "c", {})]),
        networkx.Graph(),
    ]
    for graph in graphs:
        expected = torch.from_numpy(networkx.to_numpy_array(graph))
        found = tulle.tensor(graph)
        assert found.format == "csr"
        assert_equal(found.double(), expected)
        assert_equal(tulle.tensor(graph, format="coo").double(), expected)


def test_graphs_of_torch_geometric() -> None:
    data = pytest.importorskip("torch_geometric.data")
    edge_index = pytest.importorskip("torch_geometric").EdgeIndex
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    expected = torch.zeros(4, 4)
    expected[edges[0], edges[1]] = 1
    known = edge_index(edges, sparse_size=(4, 4))
    for graph in (
        data.Data(edge_index=edges, num_nodes=4),
        data.Data(x=torch.ones(4, 1), edge_index=edges, edge_attr=torch.ones(4, 3)),
        data.Data(x=torch.ones(4, 1), edge_index=known),
        known,
    ):
        assert_equal(tulle.tensor(graph), expected)
    assert_equal(tulle.from_edge_index(known), expected)
    assert tulle.tensor(edge_index(edges)).shape == (3, 3)
    for name in ("edge_weight", "edge_attr"):
        weighted = data.Data(edge_index=edges, num_nodes=4, **{name: torch.full((4,), 3.0)})
        assert_equal(tulle.tensor(weighted), 3 * expected)
    batch = data.Batch.from_data_list([data.Data(edge_index=edges, num_nodes=4)] * 2)
    assert_equal(tulle.tensor(batch), torch.block_diag(expected, expected))
    with pytest.raises(tulle.UserError, match=r"tulle.from_edge_index\(data\[type\]"):
        tulle.tensor(data.HeteroData())
    with pytest.raises(tulle.UserError, match="no edge_index"):
        tulle.tensor(data.Data(x=torch.ones(4, 1)))


# ---- types that Tulle does not have --------------------------------------------------------------

OTHER_TYPES = ["uint8", "int8", "int16", "uint32", "uint64", "longdouble"]


@pytest.mark.parametrize("name", OTHER_TYPES)
@pytest.mark.parametrize("kind", ["numpy", "csr", "coo", "bsr", "dia", "lil"])
def test_numbers_of_other_types_are_converted_with_dtype(kind: str, name: str) -> None:
    numbers = np.array([[0, 3, 0], [1, 0, 7]]).astype(name)
    data = numbers if kind == "numpy" else getattr(scipy.sparse, f"{kind}_array")(numbers)
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        found = tulle.tensor(data, dtype=dtype)
        assert_equal(found, torch.tensor(numbers.astype("int64")).to(dtype))
    with pytest.raises((tulle.Unsupported, tulle.UserError)):
        tulle.tensor(data)


def test_tensors_of_other_types_are_converted_with_dtype() -> None:
    dense = torch.tensor([[0, 3, 0], [1, 0, 7]])
    for dtype in (torch.uint8, torch.int16):
        for data in (dense.to(dtype), dense.to(dtype).to_sparse(), dense.to(dtype).to_sparse_csr()):
            assert_equal(tulle.tensor(data, dtype=torch.float32), dense.float())
    with pytest.raises(tulle.Unsupported, match="complex"):
        tulle.tensor(dense.to(torch.complex64), dtype=torch.float32)


@pytest.mark.parametrize("name", ["int8", "uint16", "int16", "uint64", ">i4", ">i8"])
def test_indices_of_other_types(name: str) -> None:
    dense = random_sparse(5, 7)
    matrix = scipy.sparse.csr_matrix(dense.numpy())
    matrix.indices, matrix.indptr = matrix.indices.astype(name), matrix.indptr.astype(name)
    assert_equal(tulle.tensor(matrix), dense)
    entries = scipy.sparse.coo_array(dense.numpy())
    entries.coords = tuple(each.astype(name) for each in entries.coords)
    assert_equal(tulle.tensor(entries), dense)
    diagonals = scipy.sparse.dia_array(dense.numpy())
    diagonals.offsets = diagonals.offsets.astype(name.replace("u", ""))
    assert_equal(tulle.tensor(diagonals), dense)


def test_other_byte_orders_and_fields_of_records() -> None:
    dense = random_sparse(5, 7)
    matrix = scipy.sparse.csr_matrix(dense.numpy())
    matrix.data = matrix.data.astype(">f8")
    assert_equal(tulle.tensor(matrix), dense)
    records = np.zeros((5, 7), dtype=[("weight", "f8"), ("kind", "i4")])
    records["weight"] = dense.numpy()
    records["kind"] = dense.numpy()
    assert_equal(tulle.tensor(records["weight"]), dense)
    assert_equal(tulle.tensor(records["kind"]), dense.int())


def test_edges_with_weights_that_are_no_numbers() -> None:
    networkx = pytest.importorskip("networkx")
    for weight in (None, "heavy"):
        graph = networkx.Graph()
        graph.add_edge(0, 1, weight=weight)
        with pytest.raises(tulle.UserError, match="weight"):
            tulle.tensor(graph)


def test_graphs_know_more_nodes_than_their_edge_index() -> None:
    geometric = pytest.importorskip("torch_geometric")
    edges = torch.tensor([[0, 1], [1, 2]])
    for size, expected in (((None, None), 5), ((4, 4), 4), ((4, None), 5)):
        edge_index = geometric.EdgeIndex(edges, sparse_size=size)
        graph = geometric.data.Data(edge_index=edge_index, num_nodes=5)
        assert tulle.tensor(graph).shape == (expected, expected)
