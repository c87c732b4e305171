"""torch.export: saving programs and loading them in another process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers import assert_equal, random_sparse
from torch import Tensor
from torch.autograd import forward_ad
from torch.export import Dim
from torch.func import grad, jacfwd, jacrev, jvp, vmap
from torch.utils import _pytree as pytree

import tulle

SIZE = 6
FORMATS = ["csr", "coo", "bsr(2,3)", "dia", "bitmap", "hyb(2,2)", "{ band(-1,1): dia; rest: csr }"]
X = torch.rand(SIZE, 4, generator=torch.Generator().manual_seed(7))


@pytest.fixture(autouse=True)
def reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield


class Layer(torch.nn.Module):
    """A graph convolution with an attention over the entries."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4, 3))

    def forward(self, a: Any, x: Tensor) -> Tensor:
        return torch.relu(a @ (x @ self.weight)) + a.softmax(1).sum(1)[:, None]


def matrix(seed: int = 0, format: str = "csr") -> tulle.SparseTensor:
    return tulle.tensor(random_sparse(SIZE, SIZE, seed=seed, dtype=torch.float32)).to(format=format)


def exported(a: tulle.SparseTensor, layer: Layer, *, strict: bool) -> Any:
    """The exported layer for any number of entries."""
    arrays = [{0: Dim.AUTO}] * len(pytree.tree_leaves(a))
    return torch.export.export(layer, (a, X), strict=strict, dynamic_shapes=(arrays, None))


def test_graphs_contain_operators_and_no_numbers_of_this_process() -> None:
    program = exported(matrix(), Layer(), strict=False)
    operators = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert "tulle.compute.default" in operators
    assert not any("describe" in name or "number" in name for name in operators)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_other_entries(format: str, strict: bool) -> None:
    layer = Layer()
    module = torch.export.export(layer, (matrix(0, format), X), strict=strict).module()
    assert_equal(module(matrix(0, format), X).detach(), layer(matrix(0, format), X).detach())
    if strict or format != "csr":
        return
    module = exported(matrix(0, format), layer, strict=strict).module()
    for seed in range(3):
        a = matrix(seed, format)
        assert_equal(module(a, X).detach(), layer(a, X).detach())


class Attention(torch.nn.Module):
    """Results of its own pattern, of that of an operand, several results, einsum, a composite."""

    def forward(self, a: Any, x: Tensor) -> Tensor:
        scores, weights = tulle.compute(
            "S[i,j] = A[i,j] * X[i,k] * X[j,k]\ny[i] = sum(j, A[i,j] * X[j,k] * X[i,k])", A=a, X=x
        )
        product = scores.softmax(1) @ a.T
        return torch.tanh(product @ x) * weights[:, None] + tulle.einsum("ij,jk->ik", a, x)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_training_of_exported_programs(format: str, strict: bool) -> None:
    """Autograd and forward mode follow the operators of an exported program."""
    a, model = matrix(0, format), Attention()
    module = torch.export.export(model, (a, X), strict=strict).module()

    def steps(function: Any) -> list[Tensor]:
        values, x = a.values().clone().requires_grad_(), X.clone().requires_grad_()
        loss = function(a.with_values(values), x).square().sum()
        first = torch.autograd.grad(loss, (values, x), create_graph=True)
        second = torch.autograd.grad(sum(one.square().sum() for one in first), (values, x))
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(X, torch.ones_like(X))
            tangent = forward_ad.unpack_dual(function(a, dual)).tangent
        return [loss, *first, *second, tangent]

    for found, expected in zip(steps(module), steps(model), strict=True):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_transforms_of_exported_programs(format: str, strict: bool) -> None:
    """The transforms of torch.func follow the operators of an exported program."""
    a, model = matrix(0, format), Attention()
    module = torch.export.export(model, (a, X), strict=strict).module()
    several = torch.rand(3, *X.shape)
    values = torch.rand(2, a.values().numel())

    def transformed(function: Any) -> list[Tensor]:
        def of_values(own: Tensor) -> Tensor:
            return vmap(lambda x: function(a.with_values(own), x))(several)

        def loss(x: Tensor) -> Tensor:
            return function(a, x).square().sum()

        followed = several.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(vmap(loss)(followed).sum(), followed)
        return [
            vmap(lambda x: function(a, x), in_dims=1)(several.movedim(0, 1)),
            vmap(of_values)(values),
            vmap(grad(loss))(several),
            grad(lambda own: of_values(own).square().sum())(values[0]),
            jvp(loss, (X,), (torch.ones_like(X),))[1],
            jacfwd(lambda x: function(a, x))(X),
            jacrev(lambda x: function(a, x))(X),
            gradient,
        ]

    for found, expected in zip(transformed(module), transformed(model), strict=True):
        torch.testing.assert_close(found, expected)


LOAD = """
import sys, torch, tulle
folder = sys.argv[1]
arrays, values, x, expected = torch.load(f"{folder}/operands.pt")
a = tulle.from_levels("csr", (6, 6), [{}, arrays], values)
for name in ("strict", "plain"):
    found = torch.export.load(f"{folder}/{name}.pt2").module()(a, x)
    torch.testing.assert_close(found, expected)
print("equal")
"""


def test_another_process_loads_saved_programs(tmp_path: Path) -> None:
    a, layer = matrix(), Layer()
    torch.export.save(exported(a, layer, strict=False), tmp_path / "plain.pt2")
    torch.export.save(torch.export.export(layer, (a, X), strict=True), tmp_path / "strict.pt2")
    operands = (a.levels()[1], a.values(), X, layer(a, X).detach())
    torch.save(operands, tmp_path / "operands.pt")
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "equal", done.stderr
