"""Composite formats against CSR: what converting costs, and after how many calls it has paid."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from harness import SUBJECT, Call, Row, Timing, Verdict

FORMATS = ("hyb(1,2)", "hyb(1,3)", "hyb(1,5)", "hyb(2,3)")


def converted(A: Any, synchronise: Call) -> tuple[dict[str, Any], dict[str, float]]:
    """The tensor in each format, and the seconds that a second conversion takes."""
    found: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for name in FORMATS:
        A.to(format=name)
        synchronise()
        start = time.perf_counter()
        found[name] = A.to(format=name)
        synchronise()
        seconds[name] = time.perf_counter() - start
    return found, seconds


def row(
    case: str, threads: int | None, times: dict[str, Timing], costs: Mapping[str, float]
) -> Row:
    """A row whose remark is about the best composite format."""
    best = min(costs, key=lambda name: times[name].median)
    gain = times[SUBJECT].median - times[best].median
    cost = costs[best]
    pays = f"pays after {cost / gain:.0f} calls" if gain > 0 else "never pays"
    remark = f"{best} converted in {1e3 * cost:.2f} ms, {pays}"
    notes = {"best": best, "gain": gain, "conversion": dict(costs)}
    return Row(case, threads, times, notes, remark)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """No promise: which of them is faster is what is to be found out."""
    faster = [row.case.strip() for row in rows if float(str(row.notes["gain"])) > 0]
    found = f"in {len(faster)} of {len(rows)} cases" + (f": {', '.join(faster)}" if faster else "")
    return [Verdict("a composite format beats CSR (for information)", found, None)]
