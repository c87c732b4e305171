"""Composite formats times dense against CSR times dense, float32, planned or tuned."""

from __future__ import annotations

from collections.abc import Iterator

import graphs
import torch
from harness import Options, Row, check
from harness import measure as time_calls

from suites import _composites

TITLE = "hyb x dense against CSR x dense (tulle), float32"
COMPARE = True
SECONDS_PER_CELL = 2.0
CPU = _composites.Device(
    synchronise=lambda: None,
    measure=lambda calls: time_calls(calls, SECONDS_PER_CELL),
    check=check,
)

judge = _composites.judge


def measure(options: Options) -> Iterator[Row]:
    """A row for each number of threads, matrix and width."""
    if not options.tulle:
        return
    for threads in options.threads:
        torch.set_num_threads(threads)
        for name in options.matrices:
            found = graphs.matrix(name)
            pos, crd = (torch.from_numpy(array) for array in (found.pos, found.crd))
            values = torch.rand(found.nnz, generator=torch.Generator().manual_seed(0))
            csr = torch.sparse_csr_tensor(pos, crd, values, found.shape, check_invariants=False)
            contest = _composites.Contest(options, CPU, name, csr)
            for width in options.widths:
                draw = torch.Generator().manual_seed(1)
                yield contest.row(torch.rand(found.shape[1], width, generator=draw), threads)
