"""torch.compile and torch.export on functions of sparse tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from helpers import assert_equal
from torch import Tensor
from torch._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._dynamo.testing import CompileCounter
from torch.utils import _pytree as pytree

import tulle

SIZE = 6
FORMATS = ["csr", "csc", "coo", "bsr(2,3)", "dia", "bitmap", "hyb(2,2)"]


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield


def square(seed: int = 0, rows: int = SIZE) -> Tensor:
    """Not symmetric, so that swapped operands give other results."""
    torch.manual_seed(seed)
    return torch.rand(rows, SIZE) * (torch.rand(rows, SIZE) < 0.5)


X = torch.rand(SIZE, SIZE, generator=torch.Generator().manual_seed(7))

Function = Callable[[Any, Tensor], Any]

# Functions that are the same for a sparse and a dense matrix.
FUNCTIONS: dict[str, Function] = {
    "A @ x": lambda a, x: a @ x,
    "x @ A": lambda a, x: x @ a,
    "A @ A": lambda a, x: a @ a,
    "A.T @ x": lambda a, x: a.T @ x,
    "A.T @ A": lambda a, x: a.T @ a,
    "x @ A.T": lambda a, x: x @ a.T,
    "torch.mm": lambda a, x: torch.mm(a, x),
    "torch.matmul": lambda a, x: torch.matmul(x, a),
    "linear": lambda a, x: torch.nn.functional.linear(x, a),
    "A * x": lambda a, x: a * x,
    "x * A": lambda a, x: x * a,
    "A + x": lambda a, x: a + x,
    "x + A": lambda a, x: x + a,
    "A - x": lambda a, x: a - x,
    "x - A": lambda a, x: x - a,
    "A / x": lambda a, x: a / (x + 1),
    "x / A": lambda a, x: (x + 1) / (a + 1),
    "A + A": lambda a, x: a + a,
    "A - 2 A": lambda a, x: a - a * 2,
    "A * A.T": lambda a, x: a * a.T,
    "A / 2": lambda a, x: a / 2,
    "2 * A": lambda a, x: 2 * a,
    "2 - A": lambda a, x: 2 - a,
    "A - 2": lambda a, x: a - 2,
    "torch.add": lambda a, x: torch.add(x, a, alpha=2),
    "torch.sub": lambda a, x: torch.sub(x, a) + torch.sub(a, x, alpha=3),
    "torch.mul": lambda a, x: torch.mul(x, a),
    "torch.div": lambda a, x: torch.div(a, x + 1),
    "x.sub(A)": lambda a, x: x.sub(a),
    "x.mm(A)": lambda a, x: x.mm(a),
    "torch.mm(x, A)": lambda a, x: torch.mm(x, a),
    "torch.matmul(A, x)": lambda a, x: torch.matmul(a, x),
    "torch.addmm": lambda a, x: torch.addmm(x, a, x) + torch.addmm(x, x, a),
    "torch.einsum": lambda a, x: torch.einsum("ij,jk->ik", x, a),
    "both orders": lambda a, x: (x @ a) - (a @ x),
    "-A": lambda a, x: -a,
    "relu": lambda a, x: torch.relu(a) @ x,
    "sum": lambda a, x: a.sum(1) + a.sum(),
    "mean": lambda a, x: a.mean(0),
    "amax": lambda a, x: a.amax(1),
    "permute": lambda a, x: a.permute(1, 0),
    "A.sin()": lambda a, x: a.sin(),
    "A.exp()": lambda a, x: a.exp(),
    "clamp": lambda a, x: a.clamp(max=0.5),
    "A > 0.5": lambda a, x: torch.where(a > 0.5, a, 0) @ x,
    "A == 0": lambda a, x: (a == 0) * x,
    "A**2": lambda a, x: a**2,
    "var": lambda a, x: a.var(1) + a.norm(dim=0),
    "A > x": lambda a, x: (a > x) * x,
    "x > A": lambda a, x: (x > a) * x,
    "x ** A": lambda a, x: x**a,
    "x // A": lambda a, x: x // (a + x + 1),
    "A % x": lambda a, x: (a % (x + 1)) @ x,
    "sparse where": lambda a, x: torch.where(a > 0.5, x, 0),
    "A.mul_": lambda a, x: (a * 1).mul_(2) @ x,
    "any": lambda a, x: (a > 0.5).any(1),
    "dense += A": lambda a, x: operator.iadd(x * 1, a),
    "addmm_": lambda a, x: (x * 1).addmm_(a, x),
    "axis=": lambda a, x: a.sum(axis=0, keepdims=True) + torch.sum(a, axis=0),
    "flip(dims=)": lambda a, x: a.flip(dims=(1,)) @ x,
    "multi_dot": lambda a, x: torch.linalg.multi_dot([a, a, x]),
    "tensordot": lambda a, x: torch.tensordot(a, x, 1),
    "A / column": lambda a, x: a / (x[:, :1] + 1),
}
KERNEL = tulle.kernel("C[i,k] = A[i,j] * B[j,k]", A="csr").schedule("unroll(j, 2); parallel(i)")

# Functions of a sparse matrix.
SPARSE_FUNCTIONS: dict[str, Function] = {
    "torch.sparse.addmm": lambda a, x: torch.sparse.addmm(x, a, x, beta=2),
    "torch.sparse.softmax": lambda a, x: torch.sparse.softmax(a, 1) @ x,
    "sampled_addmm": lambda a, x: torch.sparse.sampled_addmm(a, x, x, beta=2.0, alpha=0.5) @ x,
    "softmax": lambda a, x: a.softmax(1) @ x,
    "einsum": lambda a, x: tulle.einsum("ij,jk->ik", a, x),
    "compute": lambda a, x: tulle.compute("C[i,j] = A[i,j] * X[j,k] * X[k,i]", A=a, X=x),
    "kernel": lambda a, x: KERNEL(A=a, B=x),
    "with_values": lambda a, x: a.with_values(a.values() * 2) @ x,
    "to(format)": lambda a, x: a.to(format="csc") @ x,
    **{
        f"mm of {reduce}": lambda a, x, reduce=reduce: torch.sparse.mm(a, x, reduce)
        for reduce in ("sum", "mean", "amax")
    },
    "torch.sparse.sum": lambda a, x: torch.sparse.sum(a, 0),
    "shape": lambda a, x: x.new_ones(a.shape) + a.to_dense(),
}


@pytest.mark.parametrize("backend", ["aot_eager", "eager"])
@pytest.mark.parametrize("name", [*FUNCTIONS, *SPARSE_FUNCTIONS])
def test_functions(name: str, backend: str) -> None:
    dense = square()
    tensor = tulle.tensor(dense)
    function = FUNCTIONS.get(name) or SPARSE_FUNCTIONS[name]
    compiled = torch.compile(function, fullgraph=True, backend=backend)
    expected = function(dense, X) if name in FUNCTIONS else function(tensor, X)
    for _ in range(2):
        found = compiled(tensor, X)
        assert_equal(found, expected.to_dense() if name in SPARSE_FUNCTIONS else expected)


@pytest.mark.parametrize("format", FORMATS)
def test_formats(format: str) -> None:
    dense = square()
    tensor = tulle.tensor(dense).to(format=format)
    compiled = torch.compile(
        lambda a, x: torch.relu(a @ x) @ x, fullgraph=True, backend="aot_eager"
    )
    assert_equal(compiled(tensor, X), torch.relu(dense @ X) @ X)


@pytest.mark.parametrize("format", FORMATS)
def test_transposes(format: str) -> None:
    dense = square()
    tensor = tulle.tensor(dense).to(format=format)
    compiled = torch.compile(lambda a, x: a.T @ x, fullgraph=True, backend="aot_eager")
    x = X.clone().requires_grad_()
    found = compiled(tensor, x)
    assert_equal(found.detach(), dense.T @ X)
    found.backward(X)
    torch.testing.assert_close(x.grad, dense @ X)


def test_sparse_results() -> None:
    dense = square()
    tensor = tulle.tensor(dense)
    doubled, product = torch.compile(lambda a: (a * 2, a @ a), fullgraph=True, backend="aot_eager")(
        tensor
    )
    assert_equal(doubled, dense * 2)
    assert_equal(product @ X, dense @ dense @ X)
    assert product.format == "csr"
    assert_equal(product.T, (dense @ dense).T)
    assert repr(product).startswith("tulle.SparseTensor(6x6")


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_training_step(backend: str) -> None:
    tensor = tulle.tensor(square())

    def loss(values: Tensor, x: Tensor, weight: Tensor) -> Tensor:
        return torch.relu(tensor.with_values(values) @ (x @ weight)).softmax(1)[:, 0].sum()

    leaves = [tensor.values().clone(), X.clone(), torch.rand(SIZE, 3)]
    leaves = [leaf.requires_grad_() for leaf in leaves]
    expected = torch.autograd.grad(loss(*leaves), leaves)
    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    for _ in range(2):
        found = torch.autograd.grad(compiled(*leaves), leaves)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)


def test_other_numbers_of_entries_and_rows() -> None:
    """Another number of entries compiles once more, for any number; so does one of rows."""
    graphs = []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph

    compiled = torch.compile(lambda a, x: torch.relu(a @ x), fullgraph=True, backend=backend)
    for seed in range(5):
        dense = square(seed)
        assert_equal(compiled(tulle.tensor(dense), X), torch.relu(dense @ X))
    assert len(graphs) <= 2
    for rows in (7, 9, 12):
        dense = square(rows, rows)
        assert_equal(compiled(tulle.tensor(dense), X), torch.relu(dense @ X))
    assert len(graphs) <= 3


def test_training_on_other_graphs_does_not_compile_again() -> None:
    """After two graphs that differ in the number of nodes and of entries."""
    weight = torch.rand(3, 3, requires_grad=True)

    def loss(a: Any, x: Tensor) -> Tensor:
        return torch.relu(a @ (x @ weight)).square().mean()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    stance = "default"
    for nodes in (5, 7, 9, 12, 20):
        for seed in range(2):
            generator = torch.Generator().manual_seed(nodes + seed)
            dense = torch.rand(nodes, nodes, generator=generator)
            dense *= torch.rand(nodes, nodes, generator=generator) < 0.4
            x = torch.rand(nodes, 3, generator=generator)
            with torch.compiler.set_stance(stance):
                (found,) = torch.autograd.grad(compiled(tulle.tensor(dense), x), weight)
            (expected,) = torch.autograd.grad(loss(dense, x), weight)
            torch.testing.assert_close(found, expected)
        if nodes == 7:
            stance = "fail_on_recompile"


def test_graph_breaks_are_not_needed() -> None:
    explained = torch._dynamo.explain(lambda a, x: (a @ x).sum() + a.sum())(
        tulle.tensor(square()), X
    )
    assert explained.graph_break_count == 0


def test_guards_are_on_arguments_only() -> None:
    """Neither this package nor torch's table of trees is checked before each call."""

    def function(a: Any, x: Tensor) -> Tensor:
        return torch.relu(a @ x) * a.softmax(1).sum()

    compilations = CompileCounter()
    compiled = torch.compile(function, fullgraph=True, backend=compilations)
    tensor = tulle.tensor(square())
    compiled(tensor, X)
    [entry] = _debug_get_cache_entry_list(function)
    guards = str(entry.guard_manager)
    assert "L['a']" in guards and "tulle_dot" not in guards and "SUPPORTED_NODES" not in guards

    class Pair:
        pass

    pytree.register_pytree_node(Pair, lambda pair: ([], None), lambda leaves, _: Pair())
    compiled(tensor, X)
    assert compilations.frame_count == 1
    compiled(tensor.to(format="csc"), X)
    assert compilations.frame_count == 2


def test_calls_check_no_structure_of_new_tensors() -> None:
    """The library knows the structure that constructors and conversions make."""
    dense = square()
    tensor = tulle.tensor(dense)
    made = [
        tensor,
        tensor.to(format="csc"),
        tulle.eye(6),
        tulle.rand(6, 6, nnz=9),
    ]
    made += [tulle.from_levels("csr", (6, 6), tensor.levels(), tensor.values())]
    assert all(one.pattern._is_held for one in made)
