"""Q K^T at the edges of a graph on a GPU, float32: Tulle, torch and cuSPARSE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from gpu import cusparse, operands
from harness import Call, Options, Row, Verdict

from suites import gpu_promises

TITLE = "Q K^T at the entries of a CSR matrix (SDDMM) on a GPU, float32"
COMPARE = True
# As torch and cuSPARSE: the products at the entries of A, not multiplied by their values.
PROGRAM = "S[i,j] = within(A[i,j], sum(d, Q[i,d] * K[j,d]))"


def _calls(graph: operands.Graph, width: int, options: Options) -> dict[str, Call]:
    q, k = graph.dense(width, 1), graph.dense(width, 2)
    ones = operands.Graph(
        graph.name, graph.nodes, graph.pos, graph.crd, torch.ones_like(graph.values)
    )
    into = torch.empty_like(graph.values)
    calls: dict[str, Call] = {}
    if options.tulle:
        compute, ours = options.tulle.compute, ones.tulle(options.tulle)
        calls["tulle"] = lambda: compute(PROGRAM, A=ours, Q=q, K=k).values()
    columns = k.T
    calls["torch"] = lambda: torch.sparse.sampled_addmm(ones.torch_csr, q, columns, beta=0).values()
    try:
        calls["cusparse/default"] = cusparse.sddmm(graph, q, k, into)
    except cusparse.Missing as missing:
        print(f"without cuSPARSE: {missing}")
    for module in options.beside:
        calls |= module.sddmm(graph, q, k, into)
    wanted = torch.sparse.sampled_addmm(ones.torch_csr, q, columns, beta=0).values()
    for name, call in calls.items():
        into.fill_(torch.nan)
        found = call()
        result = found if isinstance(found, torch.Tensor) else into
        operands.close(f"{graph.name} d={width} {name}", result, wanted)
    return calls


def measure(options: Options) -> Iterator[Row]:
    return gpu_promises.rows(options, "d", _calls)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return gpu_promises.judge(rows)
