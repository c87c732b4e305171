"""A @ A with a sorted sparse result: time, and peak memory in a separate process."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from harness import Options, Row, Verdict

from suites import _sparse_result

TITLE = "A @ A, uniform 100,000 x 100,000 with 10 entries a row, float32, sorted sparse result"
COMPARE = True


def measure(options: Options) -> Iterator[Row]:
    """One row, with the largest number of threads."""
    most = dataclasses.replace(options, threads=(max(options.threads),))
    return _sparse_result.measure("spgemm", "A @ A", most, seconds=30.0)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises to be faster than SciPy, with memory of the order of operands and result."""
    return _sparse_result.judge(rows)
