"""Code that the suites with a sparse result share: time and peak memory of Tulle, SciPy and
torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import sparse_results
import torch
from harness import Options, Row, Verdict
from harness import measure as time_calls

PEAK_MEMORY = Path(__file__).resolve().parents[1] / "children" / "peak_memory.py"
MEMORY_ALLOWED = 3.0  # growth of the peak over the bytes of operands and result


def _memory(operation: str, name: str, threads: int) -> float:
    """The growth of the peak in one run, over the bytes of operands and result."""
    command = [sys.executable, str(PEAK_MEMORY), operation, name, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:])} failed:\n{done.stderr}")
    found = json.loads(done.stdout.splitlines()[-1])
    return float(found["growth"] / (found["operands"] + found["result"]))


def measure(operation: str, case: str, options: Options, seconds: float) -> Iterator[Row]:
    """A row for each number of threads. Memory is measured with the largest number."""
    a, b = sparse_results.OPERATIONS[operation][0]()
    names = (["tulle"] if options.tulle else []) + ["scipy", "torch"]
    calls = {n: sparse_results.contender(n, operation, a, b, options.tulle) for n in names}
    wanted = calls["scipy"]()
    unsorted = []
    for name, call in calls.items():
        result = call()
        sparse_results.check(f"{name}, {case}", result, wanted)
        if not sparse_results.is_sorted(sparse_results.as_scipy(result)):
            unsorted.append(name)
    for threads in options.threads:
        torch.set_num_threads(threads)
        row = Row(case, threads, time_calls(calls, seconds), {"unsorted": unsorted})
        remarks = []
        if threads == max(options.threads):
            memory = {name: _memory(operation, name, threads) for name in names}
            row.notes["memory"] = memory
            figures = ", ".join(f"{name} {times:.2f}" for name, times in memory.items())
            remarks.append(f"peak memory over operands + result: {figures}")
        if unsorted:
            remarks.append(f"result not sorted: {', '.join(unsorted)}")
        row.remark = "; ".join(remarks)
        yield row


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises a sorted result, faster than SciPy, with memory of the order of the stored data."""
    speed = "faster than SciPy with the most threads, sorted"
    size = f"peak memory at most {MEMORY_ALLOWED:g} times operands and result"
    row = max(rows, key=lambda r: r.threads or 0, default=None)
    ratio = row.ratio("scipy") if row else None
    if row is None or ratio is None:
        return [Verdict(speed, "not measured", None), Verdict(size, "not measured", None)]
    unsorted, memory = row.notes["unsorted"], row.notes["memory"]
    assert isinstance(unsorted, list) and isinstance(memory, dict)
    how = "unsorted" if "tulle" in unsorted else "sorted"
    found = memory["tulle"]
    return [
        Verdict(speed, f"{ratio:.2f}x, {how}", ratio > 1 and how == "sorted"),
        Verdict(size, f"{found:.2f}", found <= MEMORY_ALLOWED),
    ]
