"""Gradients, transforms and compiled functions: run by tests/gpu/run.py on a machine with a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from gpu_tensors import GPU, sparse
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

import tulle

FORMATS = ["csr", "csc", "coo", "dcsr", "bsr(2,3)", "ell(6)", "dia", "bitmap", "hyb(2,2)"]
ROWS, COLUMNS, WIDTH = 5, 6, 3

# Functions of a sparse matrix and a dense one.
FUNCTIONS: dict[str, Callable[[Any, Tensor], Tensor]] = {
    "product": lambda a, x: a @ x,
    "transposed": lambda a, x: a.T @ x[:ROWS],
    "sampled products": lambda a, x: tulle.compute(
        "S[i,j] = A[i,j] * Q[i,k] * K[j,k]", A=a, Q=x[:ROWS], K=x
    ).to_dense(),
    "softmax": lambda a, x: a.softmax(1) @ x,
    "attention": lambda a, x: tulle.compute(
        "S[i,j] = sum(k, Q[i,k] * K[j,k]); O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]",
        A=a,
        Q=x[:ROWS],
        K=x,
        V=x,
    ),
    "row sums": lambda a, x: a.sum(1) * x.sum(),
    "column sums": lambda a, x: a.sum(0) * x.sum(),
    "maxima": lambda a, x: a.amax(1) * x.sum(),
    "square": lambda a, x: (a @ a.T) @ x[:ROWS],
    "elementwise": lambda a, x: (torch.tanh(a) * x[:, 0]).to_dense(),
}


def operands(format: str) -> tuple[tulle.SparseTensor, Tensor]:
    dense = sparse(ROWS, COLUMNS, 0.5, seed=3).double()
    x = torch.randn(COLUMNS, WIDTH, generator=torch.Generator().manual_seed(4)).double()
    return tulle.tensor(dense, format=format).to(GPU), x.to(GPU)


def test_gradients() -> None:
    count = 0
    for format in FORMATS:
        a, x = operands(format)
        for function in FUNCTIONS.values():

            def computed(
                values: Tensor, x: Tensor, function: Any = function, a: tulle.SparseTensor = a
            ) -> Tensor:
                result: Tensor = function(a.with_values(values), x)
                return result

            inputs = (a.values().clone().requires_grad_(), x.clone().requires_grad_())
            # Sums by atomics have no fixed order.
            assert gradcheck(computed, inputs, nondet_tol=1e-10)
            count += 1
            if format in ("csr", "hyb(2,2)"):
                assert gradgradcheck(computed, inputs, nondet_tol=1e-9)
                count += 1
    print(f"gradients: {count} combinations")


def test_gradients_of_floats_and_halves() -> None:
    dense, x = sparse(300, 200, 0.05), torch.randn(200, 16)
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.float16, 2e-2), (torch.bfloat16, 1e-1)):
        for format in ("csr", "coo", "bsr(4,4)", "hyb(2,2)"):
            a = tulle.tensor(dense, format=format).to(GPU).to(dtype)
            values = a.values().clone().requires_grad_()
            b = x.to(GPU).to(dtype).requires_grad_()
            loss = (a.with_values(values) @ b).float().square().mean()
            loss.backward()
            exact = a.double().to_dense().requires_grad_()
            exact_b = b.detach().double().requires_grad_()
            (exact @ exact_b).square().mean().backward()
            found = a.with_values(values.grad).to_dense().double()
            expected = exact.grad * (found != 0)
            scale = float(expected.abs().max())
            assert float((found - expected).abs().max()) <= tolerance * scale
            scale = float(exact_b.grad.abs().max())
            assert float((b.grad.double() - exact_b.grad).abs().max()) <= tolerance * scale


def test_transforms() -> None:
    for format in FORMATS:
        a, x = operands(format)
        batch = torch.stack([x, 2 * x, x - 1])
        found = torch.func.vmap(lambda one, a=a: a @ one)(batch)
        torch.testing.assert_close(found, torch.stack([a @ one for one in batch]))
        _, tangent = torch.func.jvp(lambda one, a=a: a @ one, (x,), (batch[2],))
        torch.testing.assert_close(tangent, a @ batch[2])


def test_compiled_functions() -> None:
    for format in ("csr", "coo", "bsr(2,3)"):
        a, x = operands(format)

        def loss(values: Tensor, x: Tensor, a: tulle.SparseTensor = a) -> Tensor:
            return torch.relu(a.with_values(values) @ x).square().sum()

        inputs = [a.values().clone().requires_grad_(), x.clone().requires_grad_()]
        expected = torch.autograd.grad(loss(*inputs), inputs)
        compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
        found = torch.autograd.grad(compiled(*inputs), inputs)
        for one, wanted in zip(found, expected, strict=True):
            torch.testing.assert_close(one, wanted)
        torch._dynamo.reset()


def test_training_steps_in_a_graph() -> None:
    """A CUDA graph of forward and backward pass computes the same as eager steps."""
    a = tulle.tensor(sparse(300, 300, 0.05), format="csr").to(GPU)
    weight = torch.randn(16, 8, device=GPU, requires_grad=True)
    x = torch.randn(300, 16, device=GPU)

    def step() -> Tensor:
        loss: Tensor = torch.relu(a @ (x @ weight)).square().mean()
        (gradient,) = torch.autograd.grad(loss, weight)
        return gradient

    expected = step()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    tulle.finish_compiling()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = step()
    graph.replay()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_autocast() -> None:
    a, x = operands("csr")
    a, x = a.float(), x.float()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        found = a @ x
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), a @ x, rtol=5e-2, atol=5e-2)
