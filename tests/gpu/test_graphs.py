"""Streams and captured graphs: run by tests/gpu/run.py on a machine with a GPU."""

from __future__ import annotations

import torch
from gpu_tensors import GPU, raises, sparse

import tulle


def test_building_composites_is_not_captured() -> None:
    tensor, dense = (
        tulle.tensor(sparse(300, 200), format="coo").to(GPU),
        torch.randn(200, 8).to(GPU),
    )
    chosen = tulle.kernel("C[i,k] = A[i,j] * B[j,k]").schedule("decompose(A, dia-csr(0,1))")
    chosen(A=tensor, B=dense)  # compiles
    torch.cuda.synchronize()

    def capture() -> None:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            chosen(A=tensor, B=dense)

    raises(tulle.UserError, "which a CUDA graph cannot capture", capture)
    torch.cuda.synchronize()


def test_streams() -> None:
    data, b = sparse(300, 200), torch.randn(200, 64)
    tensor, dense = tulle.tensor(data, format="csr").to(GPU), b.to(GPU)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = tensor @ dense
    torch.cuda.current_stream().wait_stream(stream)
    torch.testing.assert_close(result.cpu(), data @ b, rtol=1e-4, atol=1e-4)


def test_keeps_nothing_while_a_graph_is_captured() -> None:
    data, b = sparse(600, 500), torch.randn(500, 128)
    warm, tensor = (tulle.tensor(data, format="csr").to(GPU) for _ in range(2))
    dense = b.to(GPU)
    warm @ dense  # compiles
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = tensor @ dense
    assert not any(name.startswith("pieces") for name in tensor.derived())
    graph.replay()
    torch.testing.assert_close(result.cpu(), data @ b, rtol=1e-4, atol=1e-4)


def test_graphs() -> None:
    data, b = sparse(300, 200), torch.randn(200, 64)
    tensor, dense = tulle.tensor(data, format="csr").to(GPU), b.to(GPU)
    tensor @ dense  # compiles
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = tensor @ dense
    for seed in range(3):
        other = torch.randn(200, 64, generator=torch.Generator().manual_seed(seed))
        dense.copy_(other)
        graph.replay()
        torch.testing.assert_close(result.cpu(), data @ other, rtol=1e-4, atol=1e-4)


def test_numbers_in_graphs() -> None:
    matrix = tulle.tensor(torch.eye(40), format="csr").to("cuda")
    ones = torch.ones(40, 8, device="cuda")

    def scaled(number: float) -> torch.Tensor:
        return tulle.compute("C[i,k] = A[i,j] * B[j,k] * s", A=matrix, B=ones, s=number)

    for _ in range(3):  # cached by the second call
        for number in (0.5, 2.0, -3.0):
            assert torch.equal(scaled(number), number * ones)
    tulle.finish_compiling()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept, new = scaled(2.0), scaled(7.0)
    for number in range(1000):  # evicts tensors that are not captured
        scaled(number + 0.25)
    for _ in range(2):
        kept.zero_()
        new.zero_()
        graph.replay()
        assert torch.equal(kept, 2 * ones) and torch.equal(new, 7 * ones)


def test_graphs_have_good_code() -> None:
    """Captures right after the first call, and during it."""
    data = sparse(300, 200, seed=12)
    tensor = tulle.tensor(data, format="csr").to(GPU)
    for width, warm in ((24, True), (28, False)):
        b = torch.randn(200, width, device=GPU)
        out = torch.empty(300, width, device=GPU)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            if warm:
                torch.mm(tensor, b, out=out)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                torch.mm(tensor, b, out=out)
            out.zero_()
            graph.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(out.cpu(), data @ b.cpu(), rtol=1e-4, atol=1e-4)
