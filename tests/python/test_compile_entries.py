"""torch.compile on functions whose results depend on the contents of structure: numbers and lists
of entries, pruning, masks, sorting, and tensors made inside of the function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers import assert_equal
from torch import Tensor
from torch.export import Dim, export
from torch.utils import _pytree as pytree

import tulle

SIZE = 6
FORMATS = ["csr", "csc", "coo", "bsr(2,3)", "bsr(4,4)", "dia", "ell(6)", "bitmap", "hyb(2,2)"]
X = torch.rand(SIZE, SIZE, generator=torch.Generator().manual_seed(7))
EDGES = torch.tensor([[0, 1, 2, 2, 5], [1, 2, 0, 0, 3]])
WEIGHTS = torch.rand(5, generator=torch.Generator().manual_seed(8))

Function = Callable[[Any, Tensor], Any]


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield


def matrix(seed: int = 0, rows: int = SIZE) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    dense = torch.rand(rows, SIZE, generator=generator)
    return dense * (torch.rand(rows, SIZE, generator=generator) < 0.5)


ACCESSES: dict[str, Function] = {
    "nnz": lambda a, x: x * a.nnz,
    "nnz of a product": lambda a, x: x * (a @ a.T).nnz,
    "nnz of padded blocks": lambda a, x: x * a.to(format="bsr(4,4)").nnz,
    "coordinates": lambda a, x: a.coordinates() * a.values().sum(),
    "entries": lambda a, x: torch.cat([a.entries()[0], a.entries()[1][None]]),
    "entries of a result": lambda a, x: (a * 2).prune(0.5).coordinates(),
    "indices": lambda a, x: a.to(format="coo").indices() + x.sum(),
    "format": lambda a, x: x + 1 if a.format == a.to(format="coo").format else x,
    "format by name": lambda a, x: x + 1 if a.format == "(i,j) -> (i: dense, j: compressed)" else x,
    "another format": lambda a, x: x + 1 if (a @ a.T).format != "coo" else x,
}
RESULTS: dict[str, Function] = {
    "prune": lambda a, x: a.prune(0.5),
    "prune zeros": lambda a, x: (a * (x > 0.5)).prune(),
    "prune and multiply": lambda a, x: a.prune(0.5) @ x,
    "sparse mask": lambda a, x: a[a > 0.5].sum(),
    "dense mask": lambda a, x: a[x > 0.5] * 2,
    "mask of rows": lambda a, x: a[x[0] > 0.5] @ x,
    "masked_fill": lambda a, x: a.masked_fill(a > 0.5, 0) @ x,
    "masked_select": lambda a, x: a.masked_select(x > 0.5).sum(),
    "sort": lambda a, x: a.sort(1, descending=True)[0],
    "sort by columns": lambda a, x: torch.sort(a, 0).values,
    "argsort": lambda a, x: torch.argsort(a, 1),
    "topk": lambda a, x: a.topk(2, dim=1)[0].clamp(min=0) @ x[:2],
    "indices of topk": lambda a, x: torch.topk(a, 3, largest=False).indices,
    "from_edge_index": lambda a, x: tulle.from_edge_index(EDGES, WEIGHTS, num_nodes=SIZE) @ x,
    "mean of edges": lambda a, x: tulle.from_edge_index(
        EDGES, x[0, 1:], num_nodes=6, reduce="mean"
    ),
    "largest edges": lambda a, x: tulle.from_edge_index(EDGES, shape=(6, 7), reduce="amax").T @ x,
    "eye": lambda a, x: tulle.eye(x.shape[0]) @ x + a,
    "diag": lambda a, x: tulle.diag(x[0], offset=1, format="dia") @ tulle.eye(SIZE + 1),
    "zeros": lambda a, x: tulle.zeros(SIZE, SIZE) + a,
    "tensor": lambda a, x: tulle.tensor(x * (x > 0.5)),
    "tensor in a format": lambda a, x: tulle.tensor(x * (x > 0.5), format="bsr(2,2)") @ x,
    "tensor of a sparse one": lambda a, x: tulle.tensor(a, "csc", torch.int64, copy=True) @ x,
}


def assert_same(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, tulle.SparseTensor) and expected.format.is_composite:
        # A change of a composite tensor has the format coo in a graph.
        found, expected = found.to_dense(), expected.to_dense()
    elif isinstance(expected, tulle.SparseTensor):
        assert found.format == expected.format
        assert_equal(found.coordinates(), expected.coordinates())
        found, expected = found.to_dense(), expected.to_dense()
    assert_equal(found, expected)


@pytest.mark.parametrize("backend", ["aot_eager", "eager"])
@pytest.mark.parametrize("name", [*ACCESSES, *RESULTS])
def test_functions(name: str, backend: str) -> None:
    function = ACCESSES.get(name) or RESULTS[name]
    tensor = tulle.tensor(matrix())
    compiled = torch.compile(function, fullgraph=True, backend=backend)
    expected = function(tensor, X)
    for _ in range(2):
        assert_same(compiled(tensor, X), expected)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["entries", "nnz", "prune", "sparse mask", "topk", "sort"])
def test_formats(name: str, format: str) -> None:
    function = ACCESSES.get(name) or RESULTS[name]
    tensor = tulle.tensor(matrix(1)).to(format=format)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    assert_same(compiled(tensor, X), function(tensor, X))


@pytest.mark.parametrize("name", ["entries", "prune", "sparse mask", "topk", "sort", "tensor"])
def test_other_numbers_of_entries(name: str) -> None:
    """One compilation with dynamic shapes serves every number of entries."""
    function = ACCESSES.get(name) or RESULTS[name]
    compilations = []

    def backend(graph: Any, _: Any) -> Any:
        compilations.append(graph)
        return graph

    compiled = torch.compile(function, fullgraph=True, dynamic=True, backend=backend)
    for seed in range(4):
        tensor = tulle.tensor(matrix(seed))
        x = torch.rand(SIZE, SIZE, generator=torch.Generator().manual_seed(seed))
        assert_same(compiled(tensor, x), function(tensor, x))
    assert len(compilations) == 1


LOSSES: dict[str, Function] = {
    "entries": lambda a, x: a.entries()[1].square().sum() + x.sum(),
    "prune": lambda a, x: (a.prune(0.5) @ x).square().sum(),
    "topk": lambda a, x: (a.topk(2)[0].clamp(min=0) @ x[:2]).sum(),
    "sort": lambda a, x: (a.sort(1)[0] @ x).sum(),
    "tensor": lambda a, x: (tulle.tensor(x * (x > 0.5)) @ (a @ x)).sum(),
    "from_edge_index": lambda a, x: (
        tulle.from_edge_index(EDGES, x[0, 1:], num_nodes=SIZE) @ (a @ x)
    ).sum(),
    "masks": lambda a, x: a[a > 0.5].square().sum() + a.masked_fill(x > 0.5, 0).sum() + x.sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(name: str) -> None:
    loss, tensor = LOSSES[name], tulle.tensor(matrix())
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    found = []
    for function in (loss, compiled):
        values, x = tensor.values().clone().requires_grad_(), X.clone().requires_grad_()
        function(tensor.with_values(values), x).backward()
        found.append((values.grad, x.grad))
    for eager, traced in zip(*found, strict=True):
        assert eager is not None and traced is not None
        assert_equal(traced, eager)


def test_inductor() -> None:
    def step(a: Any, x: Tensor) -> Tensor:
        chosen = tulle.tensor(x * (x > 0.5)) + a.prune(0.2)
        return (chosen @ x) / chosen.nnz + a.topk(2)[0].clamp(min=0) @ x[:2]

    tensor = tulle.tensor(matrix())
    assert_equal(torch.compile(step, fullgraph=True)(tensor, X), step(tensor, X))


def test_nodes_are_checked_at_run_time() -> None:
    for reduce in ("sum", "mean"):
        torch._dynamo.reset()

        def degrees(edges: Tensor, reduce: Any = reduce) -> Tensor:
            return tulle.from_edge_index(edges, num_nodes=SIZE, reduce=reduce).sum(1)

        compiled = torch.compile(degrees, fullgraph=True, backend="aot_eager")
        assert_equal(compiled(EDGES), degrees(EDGES))
        for wrong in (SIZE, -1):
            edges = EDGES.clone()
            edges[1, 2] = wrong
            with pytest.raises(RuntimeError, match="coordinate"):
                compiled(edges)


REFUSED: dict[str, tuple[Function, str]] = {
    "edges without nodes": (
        lambda a, x: tulle.from_edge_index(EDGES) @ x[:6],
        "num_nodes= or shape=",
    ),
    "random": (lambda a, x: tulle.rand(6, 6, nnz=3) @ x, "outside of the function"),
    "to_torch": (lambda a, x: a.to_torch().to_dense(), "outside of the function"),
    "composites": (lambda a, x: a.to(format="hyb(2,2)") @ x, "outside of the function"),
    "operands": (lambda a, x: a.topk(9), "topk: k must be from 0 to 6"),
    "arrays": (lambda a, x: tulle.tensor(x.numpy()) @ x, "outside of the function"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_a_remedy(name: str) -> None:
    function, remedy = REFUSED[name]
    with pytest.raises(Exception, match=remedy):
        torch.compile(function, fullgraph=True, backend="aot_eager")(tulle.tensor(matrix()), X)


TRANSFORMS: dict[str, Function] = {
    "jvp by values": lambda v, x: torch.func.jvp(lambda v: at(v) @ x, (v,), (v + 1,))[1],
    "jvp by operand": lambda v, x: torch.func.jvp(lambda x: at(v) @ x, (x,), (x * 2,))[1],
    "jvp by both": lambda v, x: torch.func.jvp(lambda v, x: (at(v) @ x).sin(), (v, x), (v, x))[1],
    "softmax": lambda v, x: torch.func.jvp(lambda v: at(v).softmax(1) @ x, (v,), (v + 1,))[1],
    "jvp of grad": lambda v, x: torch.func.jvp(
        torch.func.grad(lambda v: (at(v) @ x).square().sum()), (v,), (v + 1,)
    )[1],
    "jacfwd": lambda v, x: torch.func.jacfwd(lambda v: (at(v) @ x).sum(1))(v),
}


def at(values: Tensor) -> Any:
    return MATRIX.with_values(values)


MATRIX = tulle.tensor(matrix())


@pytest.mark.parametrize("name", TRANSFORMS)
def test_forward_mode(name: str) -> None:
    function, values = TRANSFORMS[name], MATRIX.values()
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    for factor in (1, 2):
        assert_equal(compiled(values * factor, X), function(values * factor, X))


class Chosen(torch.nn.Module):
    def forward(self, a: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        made = tulle.tensor(x * (x > 0.5))
        return a.prune(0.3) @ x + made @ x, a.nnz * x.sum() + a.topk(2)[0][0, 0], a.entries()[0]


@pytest.mark.parametrize("strict", [False, True])
def test_export(strict: bool, tmp_path: Path) -> None:
    arrays = [{0: Dim.AUTO}] * len(pytree.tree_leaves(MATRIX))
    exported = export(Chosen(), (MATRIX, X), dynamic_shapes=(arrays, None), strict=strict)
    torch.export.save(exported, tmp_path / "chosen.pt2")
    loaded = torch.export.load(tmp_path / "chosen.pt2")
    for seed in (0, 3):
        tensor = tulle.tensor(matrix(seed))
        for program in (exported, loaded):
            for found, expected in zip(
                program.module()(tensor, X), Chosen()(tensor, X), strict=True
            ):
                assert_equal(found, expected)
