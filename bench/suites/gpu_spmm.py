"""CSR times dense on a GPU, float32: Tulle, torch and cuSPARSE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from gpu import cusparse, operands
from harness import Call, Options, Row, Verdict

from suites import gpu_promises

TITLE = "CSR x dense (SpMM) on a GPU, float32"
COMPARE = True


def _calls(graph: operands.Graph, width: int, options: Options) -> dict[str, Call]:
    b, into = graph.dense(width), torch.empty(graph.nodes, width, device="cuda")
    calls: dict[str, Call] = {}
    if options.tulle:
        ours = graph.tulle(options.tulle)
        calls["tulle"] = lambda: torch.mm(ours, b, out=into)
    calls["torch"] = lambda: torch.addmm(into, graph.torch_csr, b, beta=0, out=into)
    for algorithm in cusparse.SPMM_ALGORITHMS:
        try:
            calls[f"cusparse/{algorithm}"] = cusparse.spmm(graph, b, into, algorithm)
        except cusparse.Missing as missing:
            print(f"without the algorithm {algorithm} of cuSPARSE: {missing}")
    for module in options.beside:
        calls |= module.spmm(graph, b, into)
    wanted = torch.mm(graph.torch_csr, b)
    for name, call in calls.items():
        into.fill_(torch.nan)
        call()
        operands.close(f"{graph.name} N={width} {name}", into, wanted)
    return calls


def measure(options: Options) -> Iterator[Row]:
    return gpu_promises.rows(options, "N", _calls)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return gpu_promises.judge(rows)
