"""Products under torch.autocast: types of results and gradients, as for dense tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import tulle

torch.manual_seed(0)
DENSE = torch.rand(6, 6) * (torch.rand(6, 6) < 0.5)
X = torch.rand(6, 6)

PRODUCTS: dict[str, Callable[[Any, Tensor], Any]] = {
    "A @ x": lambda a, x: a @ x,
    "x @ A": lambda a, x: x @ a,
    "A.T @ x": lambda a, x: a.T @ x,
    "A @ vector": lambda a, x: a @ x[0],
    "torch.mm": torch.mm,
    "torch.matmul": torch.matmul,
    "linear": lambda a, x: torch.nn.functional.linear(x, a),
    "einsum": lambda a, x: torch.einsum("ij,jk->ik", a, x),
    "addmm": lambda a, x: torch.addmm(x, a, x, beta=0.5, alpha=2),
    "addmm on the right": lambda a, x: torch.addmm(x, x, a),
    "baddbmm": lambda a, x: torch.baddbmm(x[None], a[None], x[None]),
    "addbmm": lambda a, x: torch.addbmm(x, a[None], x[None]),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_products(name: str, dtype: torch.dtype) -> None:
    tensor, product = tulle.tensor(DENSE), PRODUCTS[name]
    for _ in range(2):  # the cold route and the warm one
        with torch.autocast("cpu", dtype):
            found, expected = product(tensor, X), product(DENSE, X)
        assert found.dtype == expected.dtype == dtype
        torch.testing.assert_close(found.float(), expected.float(), rtol=0.02, atol=0.02)
        assert product(tensor, X).dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_sums_with_products(dtype: torch.dtype) -> None:
    """The type of the tensor that a product is added to matters as for dense tensors."""
    tensor = tulle.tensor(DENSE).to(dtype=dtype)
    functions: list[Callable[[Any], Any]] = [
        lambda a: torch.addmm(X.to(dtype), a, X.to(dtype)),
        lambda a: torch.addmv(X[0].to(dtype), a, X[0].to(dtype)),
        lambda a: torch.addr(X.to(dtype), a[0], X[0].to(dtype)),
        lambda a: torch.addmm(X.to(dtype), a, X.to(dtype), out=torch.empty(6, 6, dtype=dtype)),
    ]
    for function in functions:
        with torch.autocast("cpu", torch.bfloat16):
            found, expected = function(tensor), function(DENSE.to(dtype))
        assert found.dtype == expected.dtype
        torch.testing.assert_close(found.float(), expected.float(), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_sums_with_products_in_graphs(backend: str) -> None:
    tensor = tulle.tensor(DENSE)

    def function(a: Any) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return torch.addmm(X, a, X)

    torch._dynamo.reset()
    found = torch.compile(function, fullgraph=True, backend=backend)(tensor)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, function(tensor))


def test_sparse_products() -> None:
    tensor = tulle.tensor(DENSE)
    with torch.autocast("cpu", torch.bfloat16):
        product = tensor @ tensor
        assert product.dtype == torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert (tensor @ tensor).dtype == torch.float32
    torch.testing.assert_close(product.to_dense().float(), DENSE @ DENSE, rtol=0.02, atol=0.02)


def test_gradients_have_the_types_of_leaves() -> None:
    tensor = tulle.tensor(DENSE)
    values = tensor.values().clone().requires_grad_()
    x = X.clone().requires_grad_()
    dense = DENSE.clone().requires_grad_()
    for _ in range(2):
        with torch.autocast("cpu", torch.bfloat16):
            found = (tensor.with_values(values) @ x).sum()
            expected = (dense @ x).sum()
        of_values, of_x = torch.autograd.grad(found, (values, x))
        of_dense, of_other = torch.autograd.grad(expected, (dense, x))
        assert of_values.dtype == of_x.dtype == torch.float32
        places = tuple(tensor.coordinates())
        torch.testing.assert_close(of_values, of_dense[places], rtol=0.02, atol=0.02)
        torch.testing.assert_close(of_x, of_other, rtol=0.02, atol=0.02)


def test_other_types_and_calls_keep_theirs() -> None:
    tensor = tulle.tensor(DENSE)
    out = torch.empty(6, 6)
    with torch.autocast("cpu", torch.bfloat16):
        assert (tensor.to(torch.float64) @ X.double()).dtype == torch.float64
        assert torch.mm(tensor, X, out=out) is out
        assert (tensor * X).dtype == torch.float32
        assert tulle.compute("C[i,k] = A[i,j] * X[j,k]", A=tensor, X=X).dtype == torch.float32


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled(backend: str) -> None:
    tensor = tulle.tensor(DENSE)
    torch._dynamo.reset()

    def function(a: Any, x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return torch.relu(a @ x)

    found = torch.compile(function, fullgraph=True, backend=backend)(tensor, X)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, function(tensor, X))
