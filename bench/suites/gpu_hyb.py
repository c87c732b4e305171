"""Composite formats times dense on a GPU against CSR times dense, float32, planned or tuned."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from gpu import operands, timing
from harness import Options, Row

from suites import _composites

TITLE = "hyb x dense against CSR x dense (tulle) on a GPU, float32"
COMPARE = True
GPU = _composites.Device(torch.cuda.synchronize, timing.measure, operands.close)

judge = _composites.judge


def measure(options: Options) -> Iterator[Row]:
    """A row for each matrix and width."""
    if not options.tulle:
        return
    for name in options.matrices:
        graph = operands.graph(name)
        contest = _composites.Contest(options, GPU, name, graph.torch_csr)
        for width in options.widths:
            if graph.fits(width, 3):
                yield contest.row(graph.dense(width), None)
