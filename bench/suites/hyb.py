"""Composite formats times dense against CSR times dense, float32, both by their plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import graphs
import torch
from harness import Options, Row, Verdict, check
from harness import measure as time_calls

from suites import _composites

TITLE = "hyb x dense against CSR x dense (tulle), float32"
COMPARE = True
SECONDS_PER_CELL = 2.0


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
            A = options.tulle.tensor(
                torch.sparse_csr_tensor(pos, crd, values, found.shape, check_invariants=False)
            )
            parts, costs = _composites.converted(A, lambda: None)
            for width in options.widths:
                b = torch.rand(found.shape[1], width, generator=torch.Generator().manual_seed(1))
                into = torch.empty(found.shape[0], width)
                wanted = A @ b
                calls = {
                    key: lambda operand=operand, b=b, into=into: torch.mm(operand, b, out=into)
                    for key, operand in {"tulle": A, **parts}.items()
                }
                for key, call in calls.items():
                    check(f"{name} N={width} {key}", call(), wanted)
                times = time_calls(calls, SECONDS_PER_CELL)
                yield _composites.row(f"{name:10s} N={width}", threads, times, costs)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    return _composites.judge(rows)
