"""The time of the first call of a new expression: compiled, and loaded from the disk cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness import Options, Row, Timing, Verdict

TITLE = "First call of a new expression, in a process warmed up on another one"
COMPARE = False
FIRST_CALL = Path(__file__).resolve().parents[1] / "children" / "first_call.py"
PROCESSES = 3
LIMITS_MS = {
    "one kernel": 20.0,
    "sparse result": 60.0,
    "from disk": 3.0,
    "planning": 2.0,
}
# A process without a kernel cache, so that no expression reuses a kernel of an earlier one. On a
# GPU the scans and sorts exist nevertheless: the background compiles them after the first
# expression.
UNCACHED = {"TULLE_CACHE": "0", "TULLE_KEEP_PROGRAMS": "1"}


def _first_calls(cache: Path, device: str, **settings: str) -> list[dict[str, object]]:
    """The report of a new process with that cache directory and without NVIDIA's own cache."""
    environment = os.environ | {"TULLE_CACHE_DIR": str(cache), "CUDA_CACHE_DISABLE": "1"} | settings
    command = [sys.executable, str(FIRST_CALL), device]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{FIRST_CALL.name} failed:\n{done.stderr}")
    found: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(options: Options) -> Iterator[Row]:
    """A row for each expression: medians over processes without a cache and with a filled one."""
    return first_calls("cpu") if options.tulle else iter(())


def first_calls(device: str, compiling: int = PROCESSES) -> Iterator[Row]:
    """The rows of expressions over tensors on a device, which `compiling` processes compile."""
    compiled, loaded, planned = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        cache.mkdir(mode=0o700)
        _first_calls(cache, device)  # fills the cache
        for _ in range(compiling):
            compiled.append(_first_calls(cache, device, **UNCACHED))
        for _ in range(PROCESSES):
            loaded.append(_first_calls(cache, device))
            planned.append(_first_calls(cache, device, TULLE_LOG="info", **UNCACHED))
    for at, first in enumerate(compiled[0]):
        notes = {"kind": first["kind"], "error": first["error"]}
        times = {}
        if not first["error"]:
            columns = {
                "compiled": (compiled, "seconds"),
                "from disk": (loaded, "seconds"),
                "planning": (planned, "planning"),
            }
            for name, (runs, figure) in columns.items():
                times[name] = Timing.of([float(str(run[at][figure])) for run in runs])
        yield Row(str(first["case"]), None, times, notes, str(first["error"] or first["kind"]))


def verdict(promise: str, limit: float, name: str, rows: Sequence[Row]) -> Verdict:
    if not rows:
        return Verdict(promise, "not measured", None)
    failed = [row.case for row in rows if name not in row.times]
    if failed:
        return Verdict(promise, f"failed: {', '.join(failed)}", False)
    worst = max(rows, key=lambda row: row.times[name].median)
    ms = 1e3 * worst.times[name].median
    return Verdict(promise, f"slowest {ms:.2f} ms ({worst.case})", ms < limit)


def judge(rows: Sequence[Row]) -> list[Verdict]:
    """Promises that every expression stays within its limit."""
    kinds = ("one kernel", "sparse result")
    of_kind = {kind: [row for row in rows if row.notes["kind"] == kind] for kind in kinds}
    verdicts = [
        verdict(
            f"{kind} compiled under {LIMITS_MS[kind]:g} ms",
            LIMITS_MS[kind],
            "compiled",
            of_kind[kind],
        )
        for kind in kinds
    ]
    disk, planning = LIMITS_MS["from disk"], LIMITS_MS["planning"]
    return [
        *verdicts,
        verdict(f"of which planning under {planning:g} ms", planning, "planning", rows),
        verdict(f"from the disk cache under {disk:g} ms", disk, "from disk", rows),
    ]
