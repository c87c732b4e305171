"""Composite formats times dense on a GPU against CSR times dense, float32, both by their plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from gpu import operands, timing
from harness import Options, Row, Verdict

from suites import _composites

TITLE = "hyb x dense against CSR x dense (tulle) on a GPU, float32"
COMPARE = True


def measure(options: Options) -> Iterator[Row]:
    """A row for each matrix and width."""
    if not options.tulle:
        return
    for name in options.matrices:
        graph = operands.graph(name)
        A = graph.tulle(options.tulle)
        parts, costs = _composites.converted(A, torch.cuda.synchronize)
        for width in options.widths:
            if not graph.fits(width, 3):
                continue
            b, into = graph.dense(width), torch.empty(graph.nodes, width, device="cuda")
            wanted = torch.mm(graph.torch_csr, b)
            calls = {
                key: lambda operand=operand, b=b, into=into: torch.mm(operand, b, out=into)
                for key, operand in {"tulle": A, **parts}.items()
            }
            for key, call in calls.items():
                into.fill_(torch.nan)
                call()
                operands.close(f"{name} N={width} {key}", into, wanted)
            yield _composites.row(f"{name:10s} N={width}", None, timing.measure(calls), costs)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return _composites.judge(rows)
