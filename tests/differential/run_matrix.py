"""Runs the whole matrix of operations, formats, conditions and types on all cores.

    python tests/differential/run_matrix.py [--build DIR] [--slice 2/8] [--jobs N]
                                            [--levels dense,compressed] [--types f32,i64]

DIR must contain the program differential_test. No other file is needed, so the program can run on
another machine with the same system libraries. Every process runs a slice of the cells of each
operation. The script prints an operation when all processes have finished it. --levels selects
formats with no other kinds of levels, --types selects the cells of these types.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LINE = re.compile(r"^matrix  (\S+) +(\d+) cells +(\d+) right$")


class Table:
    """Adds up the counts that the processes print for each operation."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.lock = threading.Lock()
        self.start = time.monotonic()
        self.operations: dict[str, list[int]] = {}  # finished processes, cells, right
        self.cells = self.right = 0

    def add(self, operation: str, cells: int, right: int) -> None:
        with self.lock:
            row = self.operations.setdefault(operation, [0, 0, 0])
            for at, number in enumerate((1, cells, right)):
                row[at] += number
            self.cells += cells
            self.right += right
            if row[0] < self.processes:
                return
            seconds = time.monotonic() - self.start
            print(
                f"matrix  {operation:20} {row[1]:6} cells {row[2]:6} right {seconds:8.0f} s",
                flush=True,
            )


def follow(process: subprocess.Popen[str], table: Table, kept: list[str]) -> None:
    assert process.stdout
    for line in process.stdout:
        if found := LINE.match(line):
            table.add(found[1], int(found[2]), int(found[3]))
        elif not line.startswith(("[ RUN", "[       OK")):
            kept.append(line)


def run(program: Path, which: int, slices: int, jobs: int, wanted: dict[str, str]) -> bool:
    """Whether every cell is right."""
    cores = sorted(os.sched_getaffinity(0))
    command = [str(program), "--gtest_filter=Operations/Matrix*"]
    table = Table(jobs)
    running = []
    for job in range(jobs):
        part = f"{(which - 1) * jobs + job + 1}/{slices * jobs}"
        process = subprocess.Popen(
            ["taskset", "-c", str(cores[job % len(cores)]), *command],
            env=os.environ | {"TULLE_TEST_FULL": "1", "TULLE_TEST_SLICE": part} | wanted,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        kept: list[str] = []
        reader = threading.Thread(target=follow, args=(process, table, kept))
        reader.start()
        running.append((part, process, reader, kept))
    failed = 0
    for part, process, reader, kept in running:
        reader.join()
        if process.wait():
            failed += 1
            print(f"slice {part} failed, status {process.returncode}:")
            print("".join(kept[-60:]), flush=True)
    seconds = time.monotonic() - table.start
    print(
        f"matrix, slice {which} of {slices}: {table.cells} cells, {table.right} right "
        f"in {seconds:.0f} s on {jobs} cores"
    )
    return failed == 0 and table.cells > 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the whole matrix.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--slice", default="1/1", help="2/8: the second of eight")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--levels", help="dense,compressed: formats of such levels alone")
    parser.add_argument("--types", help="f32,i64: cells of these types alone")
    options = parser.parse_args()
    which, slices = (int(number) for number in options.slice.split("/"))
    program = options.build.resolve() / "differential_test"
    limits = {"TULLE_TEST_LEVELS": options.levels, "TULLE_TEST_TYPES": options.types}
    wanted = {name: value for name, value in limits.items() if value}
    return 0 if run(program, which, slices, options.jobs, wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
