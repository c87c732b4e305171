"""torch.compile and torch.export on functions that index, join and reshape sparse tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from helpers import assert_equal
from torch import Tensor

import tulle

ROWS = torch.tensor([3, 0, 3, 5])
FORMATS = ["coo", "bsr(2,3)", "dia", "hyb(2,2)", "(i,j) -> (j: dense, i: dense)"]


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield


def matrix(seed: int = 0, rows: int = 6) -> Tensor:
    torch.manual_seed(seed)
    return torch.rand(rows, 6) * (torch.rand(rows, 6) < 0.5)


Function = Callable[[Any], Any]

# Functions that are the same for a sparse and a dense matrix.
FUNCTIONS: dict[str, Function] = {
    "rows": lambda a: a[1:5],
    "a row": lambda a: a[-1],
    "an element": lambda a: a[1, 2],
    "index tensor": lambda a: a[ROWS],
    "elements": lambda a: a[ROWS, ROWS],
    "index_select": lambda a: torch.index_select(a, 1, ROWS),
    "masked_select": lambda a: a.masked_select(torch.arange(36).reshape(6, 6) % 2 == 0),
    "cat of a tuple": lambda a: torch.cat((a, a)),
    "stack": lambda a: torch.stack(a.split(3)),
    "reshape": lambda a: a.reshape(4, 9),
    "expand": lambda a: a[None].expand(2, -1, -1),
    "tril": lambda a: torch.tril(a),
    "trace": lambda a: torch.trace(a),
    "kron": lambda a: torch.kron(a, a),
    "several": lambda a: torch.cat([a[1:3], a.mT[4:]]).reshape(-1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    function, dense = FUNCTIONS[name], matrix()
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        found = compiled(tulle.tensor(dense))
        assert_equal(found, function(dense))
        eager = function(tulle.tensor(dense))
        if isinstance(eager, tulle.SparseTensor):
            assert found.format == eager.format
            found.pattern.validate("the result", found.values())


@pytest.mark.parametrize("format", FORMATS)
def test_formats(format: str) -> None:
    dense = matrix()

    def function(a: Any) -> Any:
        return torch.cat([a[2:4], a[ROWS]]) @ torch.ones(6), a.tril(), a[:, 1]

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    for one, other in zip(
        compiled(tulle.tensor(dense, format=format)), function(dense), strict=True
    ):
        assert_equal(one, other)


def test_training_step() -> None:
    tensor = tulle.tensor(matrix())

    def loss(values: Tensor, x: Tensor) -> Tensor:
        a = tensor.with_values(values)
        joined = torch.cat([a[1:4], a[ROWS]])
        return (
            (joined @ x).square().sum() + a.reshape(-1).values().sin().sum() + a[1, 2] + a.trace()
        )

    leaves = [tensor.values().clone().requires_grad_(), torch.rand(6, 3).requires_grad_()]
    expected = torch.autograd.grad(loss(*leaves), leaves)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        found = torch.autograd.grad(compiled(*leaves), leaves)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr(2,2)", "ell(6)"])
def test_several_values_for_each_entry(format: str) -> None:
    tensor = tulle.tensor(matrix(), format=format)
    values = torch.rand(tensor.values().numel(), 2, 3, dtype=torch.float64).requires_grad_()
    x = torch.rand(6, 2, 3, dtype=torch.float64)

    def function(tensor: Any, values: Tensor) -> tuple[Any, Tensor]:
        several = tensor.with_values(values)
        return several, tulle.einsum("ijhd,jhd->ihd", several, x).square()

    eager, product = function(tensor, values)
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    found, compiled_product = compiled(tensor, values)
    assert found.format == eager.format
    found.pattern.validate("the result", found.values())
    assert_equal(found, eager.to_dense())
    assert_equal(compiled_product, product)
    expected = torch.autograd.grad(product.sum(), values)[0]
    torch.testing.assert_close(torch.autograd.grad(compiled_product.sum(), values)[0], expected)


def test_several_values_for_each_entry_of_other_graphs() -> None:
    graphs = []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph

    def function(a: Any, values: Tensor) -> Tensor:
        return a.with_values(values).sum(1)

    compiled = torch.compile(function, fullgraph=True, backend=backend)
    for nodes in (5, 7, 9):
        for entries in (8, 12, 15):
            a, values = tulle.rand(nodes, nodes, nnz=entries), torch.rand(entries, 3)
            assert_equal(compiled(a, values), function(a, values))
    assert len(graphs) <= 3


def test_several_values_need_a_format_of_one_part() -> None:
    tensor = tulle.tensor(torch.eye(4), format="hyb(1,1)")
    values = torch.ones(tensor.values().numel(), 2)
    compiled = torch.compile(lambda v: tensor.with_values(v).sum(1), backend="aot_eager")
    with pytest.raises(tulle.UserError, match="one value for each entry"):
        compiled(values)


def test_other_numbers_of_entries_and_rows() -> None:
    graphs = []

    def backend(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph

    compiled = torch.compile(lambda a: torch.relu(a[1:5]).sum(), fullgraph=True, backend=backend)
    for seed in range(5):
        dense = matrix(seed)
        torch.testing.assert_close(compiled(tulle.tensor(dense)), dense[1:5].sum())
    assert len(graphs) <= 2
    for rows in (7, 9, 12):
        dense = matrix(rows, rows)
        torch.testing.assert_close(compiled(tulle.tensor(dense)), dense[1:5].sum())
    assert len(graphs) <= 3


def test_indices_are_checked_at_run_time() -> None:
    compiled = torch.compile(lambda a, index: a[index], fullgraph=True, backend="aot_eager")
    tensor = tulle.tensor(matrix())
    assert_equal(compiled(tensor, ROWS), matrix()[ROWS])
    with pytest.raises(tulle.UserError, match="index 8 is out of range"):
        compiled(tensor, torch.tensor([0, 1, 8, 2]))
    with pytest.raises(tulle.UserError, match="index -7 is out of range"):
        compiled(tensor, torch.tensor([0, 1, -7, 2]))


def test_export() -> None:
    class Layer(torch.nn.Module):
        def forward(self, a: Any, x: Tensor) -> Tensor:
            return torch.cat([a[1:4], a[4:]]) @ x

    tensor, x = tulle.tensor(matrix()), torch.rand(6, 2)
    exported = torch.export.export(Layer(), (tensor, x), strict=False)
    assert_equal(exported.module()(tensor, x), Layer()(tensor, x))
