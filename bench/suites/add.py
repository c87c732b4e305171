"""A + B of two graphs of ogbn-arxiv's size with a sparse result, both sides sorted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness import Options, Row, Verdict

from suites import _sparse_result

TITLE = "A + B, two graphs of ogbn-arxiv's size, float32, sorted sparse result"
COMPARE = True


def measure(options: Options) -> Iterator[Row]:
    """A row for each number of threads."""
    return _sparse_result.measure("add", "A + B", options, seconds=5.0)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises to be faster than SciPy, with memory of the order of operands and result."""
    return _sparse_result.judge(rows)
