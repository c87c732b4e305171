"""The transforms of torch.func: vmap, grad, vjp, jvp, jacobians and functional_call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from helpers import random_dense, random_sparse
from torch import Tensor
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

import tulle

ROWS, COLUMNS, WIDTH, BATCH = 5, 6, 3, 4
FORMATS = ["csr", "csc", "coo", "dcsr", "bsr(2,3)", "ell(6)", "dia", "bitmap", "hyb(2,2)"]

Function = Callable[[Any, Tensor], Any]

# Functions of a sparse matrix and a dense one, with dense results.
FUNCTIONS: dict[str, Function] = {
    "A @ x": lambda a, x: a @ x,
    "x @ A": lambda a, x: x.T @ a.T,
    "A * c": lambda a, x: (a * x[:, 0]).to_dense(),
    "relu": lambda a, x: torch.relu(a * 2) @ x,
    "softmax": lambda a, x: a.softmax(1) @ x,
    "sum": lambda a, x: a.sum(1) * x.sum(),
    "amax": lambda a, x: a.amax(1) + x.sum(),
    "SDDMM": lambda a, x: tulle.compute(
        "S[i,j] = A[i,j] * Y[i,k] * X[j,k]", A=a, Y=x[:ROWS], X=x
    ).to_dense(),
    "A @ A.T": lambda a, x: (a @ a.T).to_dense() @ x[:ROWS],
    "two statements": lambda a, x: tulle.compute(
        "T[i,k] = relu(sum(j, A[i,j] * X[j,k])); C[j,k] = A[i,j] * T[i,k]", A=a, X=x
    ),
}


def matrix(format: str) -> tulle.SparseTensor:
    return tulle.tensor(random_sparse(ROWS, COLUMNS), format=format)


def dense_batch(seed: int = 1) -> Tensor:
    return random_dense(BATCH, COLUMNS, WIDTH, seed=seed)


def value_batch(tensor: tulle.SparseTensor) -> Tensor:
    """Values for each member; slots that are no entries keep their value."""
    entries = tensor.with_values(torch.ones_like(tensor.values()))
    generator = torch.Generator().manual_seed(2)
    values = torch.rand(BATCH, tensor.values().numel(), generator=generator, dtype=torch.float64)
    return values * entries.values()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_over_dense_operands(name: str, format: str) -> None:
    a, x, function = matrix(format), dense_batch(), FUNCTIONS[name]
    expected = torch.stack([function(a, one) for one in x])
    torch.testing.assert_close(vmap(lambda one: function(a, one))(x), expected)
    last = x.movedim(0, -1)
    torch.testing.assert_close(vmap(lambda one: function(a, one), in_dims=-1)(last), expected)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_over_values(name: str, format: str) -> None:
    a, x, function = matrix(format), dense_batch()[0], FUNCTIONS[name]
    values = value_batch(a)
    expected = torch.stack([function(a.with_values(one), x) for one in values])
    found = vmap(lambda one: function(a.with_values(one), x))(values)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("format", ["csr", "bsr(2,3)", "hyb(2,2)"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_vmap_over_both(name: str, format: str) -> None:
    a, x, function = matrix(format), dense_batch(), FUNCTIONS[name]
    values = value_batch(a)
    expected = torch.stack(
        [function(a.with_values(v), one) for v, one in zip(values, x, strict=True)]
    )
    found = vmap(lambda v, one: function(a.with_values(v), one))(values, x)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("format", FORMATS)
def test_gradients_of_each_member(format: str) -> None:
    """vmap of grad: the gradient of each member of a batch."""
    a, x = matrix(format), dense_batch()

    def loss(values: Tensor, one: Tensor) -> Tensor:
        return (a.with_values(values) @ one).square().sum()

    values = a.values().clone()
    found = vmap(grad(loss, argnums=(0, 1)), in_dims=(None, 0))(values, x)
    for member in range(BATCH):
        expected = grad(loss, argnums=(0, 1))(values, x[member])
        for part, wanted in zip(found, expected, strict=True):
            torch.testing.assert_close(part[member], wanted)


@pytest.mark.parametrize("format", FORMATS)
def test_gradient_through_vmap(format: str) -> None:
    a, x = matrix(format), dense_batch()

    def loss(values: Tensor, x: Tensor) -> Tensor:
        return vmap(lambda one: a.with_values(values) @ one)(x).square().sum()

    def loss_of_members(values: Tensor, x: Tensor) -> Tensor:
        return torch.stack([a.with_values(values) @ one for one in x]).square().sum()

    values = a.values().clone()
    expected = grad(loss_of_members, argnums=(0, 1))(values, x)
    for part, wanted in zip(grad(loss, argnums=(0, 1))(values, x), expected, strict=True):
        torch.testing.assert_close(part, wanted)


def test_nested_vmap() -> None:
    a, x = matrix("csr"), dense_batch()
    values = value_batch(a)
    inner = vmap(lambda v, one: a.with_values(v) @ one, in_dims=(None, 0))
    found = vmap(inner, in_dims=(0, None))(values, x)
    expected = torch.stack([torch.stack([a.with_values(v) @ one for one in x]) for v in values])
    torch.testing.assert_close(found, expected)


def test_sparse_results_in_vmap() -> None:
    """A result is sparse for each member, and its values have the batch."""
    a = matrix("csr")
    values = value_batch(a)

    def product(one: Tensor) -> Tensor:
        found = a.with_values(one) @ a.T
        assert isinstance(found, tulle.SparseTensor)
        return found.values()

    expected = torch.stack([(a.with_values(one) @ a.T).values() for one in values])
    torch.testing.assert_close(vmap(product)(values), expected)


def test_jacobians() -> None:
    a, x = matrix("csr"), dense_batch()[0]
    dense = a.to_dense()
    rows, columns = a.coordinates()

    def of_dense(values: Tensor) -> Tensor:
        return torch.zeros_like(dense).index_put((rows, columns), values).matmul(x).sin()

    def of_sparse(values: Tensor) -> Tensor:
        return (a.with_values(values) @ x).sin()

    values = a.values().clone()
    torch.testing.assert_close(jacrev(of_sparse)(values), jacrev(of_dense)(values))
    torch.testing.assert_close(jacfwd(of_sparse)(values), jacfwd(of_dense)(values))
    found = hessian(lambda v: of_sparse(v).sum())(values)
    torch.testing.assert_close(found, hessian(lambda v: of_dense(v).sum())(values))


TRANSFORMS = {
    "grad": lambda function, values, change: grad(function)(values) @ change,
    "jvp": lambda function, values, change: jvp(function, (values,), (change,))[1],
    "vmap": lambda function, values, change: vmap(function)(torch.stack([values, change])).sum(),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("inner", TRANSFORMS)
@pytest.mark.parametrize("middle", TRANSFORMS)
@pytest.mark.parametrize("outer", TRANSFORMS)
def test_nested_transforms(outer: str, middle: str, inner: str, format: str) -> None:
    """Each transform in the other two: each keeps what its own derivative reads."""
    a, x = matrix(format), dense_batch()[0]
    values = a.values().clone()
    change = torch.linspace(-1, 1, values.numel(), dtype=torch.float64)

    def of_dense(values: Tensor) -> Tensor:
        coordinates, entries = a.with_values(values).entries()
        whole = torch.zeros(a.shape, dtype=torch.float64)
        return (whole.index_put(tuple(coordinates), entries, accumulate=True) @ x).sin().sum()

    def of_sparse(values: Tensor) -> Tensor:
        return (a.with_values(values) @ x).sin().sum()

    def transformed(function: Callable[[Tensor], Tensor]) -> Tensor:
        for name in (inner, middle, outer):
            function = partial(TRANSFORMS[name], function, change=change)
        return function(values)

    torch.testing.assert_close(transformed(of_sparse), transformed(of_dense))


def test_vjp_and_jvp() -> None:
    a, x = matrix("csc"), dense_batch()
    result, pull = vjp(lambda one: a @ one, x[0])
    torch.testing.assert_close(pull(torch.ones_like(result))[0], a.T @ torch.ones_like(result))
    _, tangent = jvp(lambda one: a @ one, (x[0],), (x[1],))
    torch.testing.assert_close(tangent, a @ x[1])
    pushed = vmap(lambda one: jvp(lambda y: a @ y, (x[0],), (one,))[1])(x)
    torch.testing.assert_close(pushed, torch.stack([a @ one for one in x]))


def test_functional_call() -> None:
    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(WIDTH, 2, dtype=torch.float64)

        def forward(self, a: tulle.SparseTensor, x: Tensor) -> Tensor:
            return a @ self.linear(x)

    layer, a, x = Layer(), matrix("csr"), dense_batch()[0]
    parameters = dict(layer.named_parameters())

    def loss(parameters: dict[str, Tensor]) -> Tensor:
        result: Tensor = functional_call(layer, parameters, (a, x))
        return result.square().sum()

    loss(parameters).backward()
    found = grad(loss)({name: one.detach() for name, one in parameters.items()})
    for name, one in parameters.items():
        torch.testing.assert_close(found[name], one.grad)


def test_out_inside_of_a_transform_is_refused() -> None:
    a, x = matrix("csr"), dense_batch()
    out = torch.empty(ROWS, WIDTH, dtype=torch.float64)
    with pytest.raises(tulle.UserError, match=r"out: .* a transform of torch.func"):
        vmap(lambda one: a.matmul(one, out=out))(x)
