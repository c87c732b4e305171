"""Constructors: identities, diagonals, random tensors, tensors like another one, edge lists."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from helpers import DTYPES, MATRIX_FORMATS, assert_equal, random_sparse
from torch import Tensor

import tulle

FORMATS = [*MATRIX_FORMATS, "dia", "ell(5)", "ragged", "bitmap", "hyb(2,2)"]
SHAPES = [(5, 5), (5, 7), (7, 5), (0, 4), (4, 0), (1, 1)]


# ---- identities, diagonals, tensors without entries ----------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_identities(format: str) -> None:
    for shape in SHAPES:
        found = tulle.eye(*shape, format=format, dtype=torch.float64)
        assert found.format == format
        assert_equal(found, torch.eye(*shape, dtype=torch.float64))
    assert tulle.eye(3).dtype == torch.float32
    assert tulle.eye(3, requires_grad=True).requires_grad
    assert_equal(tulle.eye(3, dtype=torch.bool), torch.eye(3, dtype=torch.bool))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("offset", [0, 2, -1])
def test_diagonals(format: str, offset: int) -> None:
    values = torch.tensor([1.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    found = tulle.diag(values, offset, format=format)
    assert found.format == format and found.nnz >= 3
    assert_equal(found.detach(), torch.diag(values.detach(), offset))
    assert torch.autograd.gradcheck(
        lambda v: tulle.diag(v, offset, format=format).to_dense() ** 2, (values,)
    )


def test_diagonals_of_a_shape() -> None:
    found = tulle.diag([1, 2, 3], 1, shape=(3, 5))
    expected = torch.zeros(3, 5, dtype=torch.int64)
    expected.diagonal(1).copy_(torch.tensor([1, 2, 3]))
    assert_equal(found, expected)
    for arguments, message in [
        ({"values": torch.eye(2)}, r"expected a vector.*einsum\(\"ii->i\", A\)"),
        ({"values": [1.0], "offset": 1.5}, "offset is an integer"),
        ({"values": [1.0, 2.0], "shape": (3, 4)}, "diagonal 0 of a 3 x 4 matrix has 3 elements"),
        ({"values": [1.0, 2.0], "shape": (3,)}, "two sizes"),
    ]:
        given: dict[str, Any] = arguments
        with pytest.raises(tulle.UserError, match=message):
            tulle.diag(**given)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (2, 3, 4, 5)])
def test_tensors_without_entries(shape: tuple[int, ...]) -> None:
    for found in (tulle.zeros(*shape), tulle.zeros(shape), tulle.zeros(shape, format="coo")):
        assert found.nnz == 0
        assert_equal(found, torch.zeros(shape))
    assert tulle.zeros(3, 4).format == "csr"
    with pytest.raises(tulle.UserError, match="at least one dimension"):
        tulle.zeros()


# ---- random tensors ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(50,), (30, 40), (5, 6, 7), (0, 3)])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.9, 1.0])
def test_random_tensors_have_the_density(shape: tuple[int, ...], density: float) -> None:
    for make in (tulle.rand, tulle.randn):
        found = make(*shape, density=density)
        wanted = round(density * found.numel())
        assert found.nnz == wanted and found.is_coalesced()
        assert int((found.to_dense() != 0).sum()) == wanted
        assert make(shape, nnz=wanted).nnz == wanted


@pytest.mark.parametrize("format", FORMATS)
def test_random_tensors_have_the_format_and_the_seed(format: str) -> None:
    def draw(seed: int, format: str) -> tulle.SparseTensor:
        generator = torch.Generator().manual_seed(seed)
        return tulle.rand(9, 7, nnz=11, format=format, generator=generator, dtype=torch.float64)

    one = draw(1, format)
    assert one.format == format and one.dtype == torch.float64
    assert_equal(one, draw(1, "csr").to_dense())
    assert not torch.equal(one.to_dense(), draw(2, format).to_dense())


def test_huge_random_tensors() -> None:
    found = tulle.rand(2**31 - 1, 2**31, nnz=1000, format="coo")
    assert found.nnz == 1000
    assert found.coordinates().max() > 2**29


def test_places_are_uniform() -> None:
    generator = torch.Generator().manual_seed(0)
    counts = sum(
        tulle.rand(20, nnz=3, generator=generator).to_dense().bool().int() for _ in range(2000)
    )
    assert isinstance(counts, Tensor)
    assert int(counts.min()) > 240 and int(counts.max()) < 360


def test_wrong_densities_are_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "give one of density and nnz"),
        ({"density": 0.1, "nnz": 3}, "give one of density and nnz"),
        ({"density": 2}, "between 0 and 1"),
        ({"nnz": 13}, "from 0 to the number of elements, 12"),
        ({"nnz": 1.5}, "nnz is an integer"),
        ({"nnz": 1, "dtype": "float"}, "expected a type"),
    ]
    for options, message in cases:
        with pytest.raises(tulle.UserError, match=message):
            tulle.rand(3, 4, **options)
    with pytest.raises(tulle.UserError, match="2\\^63"):
        tulle.rand(2**40, 2**40, nnz=1)


# ---- like another tensor -------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_tensors_like_another(format: str) -> None:
    data = random_sparse(5, 7)
    tensor = tulle.tensor(data, format=format)
    held = tensor.with_values(torch.ones_like(tensor.values())).to_dense()
    for make, value in [
        (torch.zeros_like, 0.0),
        (torch.ones_like, 1.0),
        (tulle.zeros_like, 0.0),
        (tulle.ones_like, 1.0),
        (lambda like, **options: torch.full_like(like, 3, **options), 3.0),
        (lambda like, **options: tulle.full_like(like, 3, **options), 3.0),
    ]:
        found = make(tensor)
        assert found.pattern is tensor.pattern
        assert_equal(found, held * value)
        other = make(tensor, dtype=torch.int32)
        assert_equal(other, (held * value).int())
        assert make(tensor, requires_grad=True).requires_grad
    assert torch.empty_like(tensor).pattern is tensor.pattern
    for make in (torch.rand_like, torch.randn_like, tulle.rand_like, tulle.randn_like):
        found = make(tensor)
        assert found.pattern is tensor.pattern and found.values().std() > 0
    with pytest.raises(tulle.UserError, match=r"to_sparse\(layout=...\)"):
        torch.zeros_like(tensor, layout=torch.strided)
    with pytest.raises(tulle.UserError, match=r"torch\.zeros_like takes dense"):
        tulle.zeros_like(data)


# ---- edge lists ----------------------------------------------------------------------------------

EDGES = torch.tensor([[2, 0, 2, 0, 3, 2], [1, 3, 1, 0, 3, 1]])
REDUCED = {
    "sum": torch.Tensor.sum,
    "mean": torch.Tensor.mean,
    "amax": torch.Tensor.amax,
    "amin": torch.Tensor.amin,
}


def expected_matrix(weights: Tensor, reduce: str) -> Tensor:
    """The matrix of EDGES with these weights."""
    found = torch.zeros(4, 4, dtype=weights.dtype)
    for source, target in {(int(u), int(v)) for u, v in EDGES.T}:
        own = weights[(EDGES[0] == source) & (EDGES[1] == target)]
        found[source, target] = REDUCED[reduce](own)
    return found


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("reduce", REDUCED)
def test_edge_lists(format: str, reduce: Any) -> None:
    weights = torch.tensor([1.0, 2, 3, 4, 5, 6], dtype=torch.float64, requires_grad=True)
    found = tulle.from_edge_index(EDGES, weights, num_nodes=4, format=format, reduce=reduce)
    assert found.format == format and found.is_coalesced()
    assert_equal(found.detach(), expected_matrix(weights.detach(), reduce))

    def matrix(values: Tensor) -> Tensor:
        made = tulle.from_edge_index(EDGES, values, format=format, reduce=reduce)
        return made.to_dense() ** 2

    assert torch.autograd.gradcheck(matrix, (weights,))


def test_equal_weights_share_the_gradient_of_a_maximum() -> None:
    weights = torch.ones(6, requires_grad=True)
    tulle.from_edge_index(EDGES, weights, reduce="amax").values().sum().backward()
    assert weights.grad is not None
    assert torch.allclose(weights.grad, torch.tensor([1 / 3, 1, 1 / 3, 1, 1, 1 / 3]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_edge_lists_in_other_forms(dtype: torch.dtype) -> None:
    weights = torch.tensor([1, 2, 3, 4, 5, 6]).to(dtype)
    expected = expected_matrix(weights, "sum")
    for edges in (EDGES, EDGES.T.contiguous().T, EDGES.int(), EDGES.numpy(), tuple(EDGES)):
        assert_equal(tulle.from_edge_index(edges, weights), expected)
    assert_equal(tulle.from_edge_index(EDGES, weights[:, None]), expected)
    assert tulle.from_edge_index(EDGES).dtype == torch.float32
    wide = tulle.from_edge_index(EDGES, weights, shape=(4, 9), index_dtype=torch.int64)
    assert wide.shape == (4, 9) and wide.index_dtype == torch.int64


def test_graphs_without_edges() -> None:
    none = torch.zeros(2, 0, dtype=torch.int64)
    assert tulle.from_edge_index(none).shape == (0, 0)
    assert tulle.from_edge_index([[], []], num_nodes=3).shape == (3, 3)
    assert_equal(tulle.from_edge_index(none, num_nodes=3, reduce="amax"), torch.zeros(3, 3))


def test_wrong_edges_are_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"edge_index": EDGES.T}, r"transpose a list of pairs with edges\.T"),
        ({"edge_index": EDGES.float()}, "nodes are int32 or int64"),
        ({"edge_index": ([0, 1], [2])}, "2 sources and 1 targets"),
        ({"num_nodes": 3}, r"the source 3 of an edge is outside \[0, 3\)"),
        ({"shape": (4, 3)}, r"the target 3 of an edge is outside \[0, 3\)"),
        ({"edge_index": -EDGES, "num_nodes": 4}, r"the source -3"),
        ({"num_nodes": 4, "shape": (4, 4)}, "give one of num_nodes and shape"),
        ({"weights": torch.ones(3)}, "a weight for each of 6 edges"),
        ({"reduce": "median"}, "reduce is 'sum'"),
        ({"weights": torch.arange(6), "reduce": "mean"}, r"convert the weights with float\(\)"),
        ({"index_dtype": torch.int16}, "index_dtype"),
    ]
    for change, message in cases:
        with pytest.raises(tulle.UserError, match=message):
            tulle.from_edge_index(**({"edge_index": EDGES} | change))
    with pytest.raises(tulle.Unsupported, match="complex64"):
        tulle.from_edge_index(EDGES, torch.ones(6, dtype=torch.complex64))


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "dcsr", "bsr(2,2)", "ell(4)", "bitmap"])
@pytest.mark.parametrize("reduce", ["sum", "mean", "amax"])
def test_edges_with_several_weights(format: str, reduce: str) -> None:
    edges = torch.tensor([[0, 1, 3, 0, 3, 2], [1, 2, 0, 1, 3, 2]])
    weights = (torch.rand(6, 3, dtype=torch.float64) + 1).requires_grad_()
    found = tulle.from_edge_index(edges, weights, num_nodes=5, format=format, reduce=reduce)
    heads = [
        tulle.from_edge_index(edges, one, num_nodes=5, reduce=reduce).to_dense()
        for one in weights.unbind(1)
    ]
    expected = torch.stack(heads, -1)
    assert_equal(found.detach(), expected.detach())
    factors = torch.rand(5, 5, 3, dtype=torch.float64)
    given = torch.autograd.grad((found * factors).sum(), weights)[0]
    assert_equal(given, torch.autograd.grad((expected * factors).sum(), weights)[0])
    x = torch.rand(5, 3, 2, dtype=torch.float64)
    product = tulle.einsum("ijh,jhk->ihk", found, x)
    assert_equal(product.detach(), torch.einsum("ijh,jhk->ihk", expected, x).detach())


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr(2,2)", "dia"])
def test_several_values_for_each_entry(format: str) -> None:
    data = tulle.tensor(torch.eye(4) * 2, format=format)
    values = torch.rand(data.values().numel(), 2, 3)
    found = data.with_values(values)
    assert found.shape == (4, 4, 2, 3)
    for head in range(6):
        one = data.with_values(values.reshape(-1, 6)[:, head].contiguous())
        assert_equal(found.to_dense()[..., head // 3, head % 3], one.to_dense())
    with pytest.raises(tulle.UserError, match="one value for each entry"):
        tulle.tensor(torch.eye(4), format="hyb(1,1)").with_values(torch.ones(64, 2))
