"""Graph attention with one head on a GPU, float32: Tulle in one pass, torch in steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from gpu import operands, timing
from harness import Call, Options, Row, Verdict

from suites import gpu_promises

TITLE = "Graph attention, one head of width 64, on a GPU, float32"
COMPARE = True
WIDTH = 64
SCALE = 0.125
PROGRAM = """
    S[i,j] = sum(k, Q[i,k] * K[j,k]) * s
    O[i,d] = softmax(j in A[i,j], S[i,j]) * V[j,d]"""


def _by_steps(
    graph: operands.Graph, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> torch.Tensor:
    """Scores, maxima, exponentials, sums and product: one torch operator for each."""
    scores = torch.sparse.sampled_addmm(graph.torch_csr, q, k.T, beta=0).values() * SCALE
    largest = torch.full((graph.nodes,), -torch.inf, device="cuda")
    largest.scatter_reduce_(0, graph.rows, scores, "amax")
    weights = torch.exp(scores - largest[graph.rows])
    sums = torch.zeros(graph.nodes, device="cuda").index_add_(0, graph.rows, weights)
    size = (graph.nodes, graph.nodes)
    matrix = torch.sparse_csr_tensor(
        graph.pos, graph.crd, weights, size=size, check_invariants=False
    )
    return torch.mm(matrix, v) / sums.clamp_min(1e-30)[:, None]


def _calls(graph: operands.Graph, options: Options) -> dict[str, Call]:
    q, k, v = (graph.dense(WIDTH, seed) for seed in (1, 2, 3))
    into = torch.zeros(graph.nodes, WIDTH, device="cuda")
    calls: dict[str, Call] = {}
    if options.tulle:
        compute, ours = options.tulle.compute, graph.tulle(options.tulle)
        calls["tulle"] = lambda: compute(PROGRAM, A=ours, Q=q, K=k, V=v, s=SCALE, out=into)
    calls["torch steps"] = lambda: _by_steps(graph, q, k, v)
    for module in options.beside:
        calls |= module.attention(graph, q, k, v, SCALE, into)
    wanted = _by_steps(graph, q, k, v)
    for name, call in calls.items():
        into.zero_()
        found = call()
        result = found if isinstance(found, torch.Tensor) else into
        operands.close(f"{graph.name} {name}", result, wanted)
    return calls


def measure(options: Options) -> Iterator[Row]:
    for name in options.matrices:
        graph = operands.graph(name)
        times = timing.measure(_calls(graph, options))
        yield gpu_promises.row(f"{name:15s} d={WIDTH}", times)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return gpu_promises.judge(rows)
