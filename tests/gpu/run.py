"""Runs the tests of this folder on a machine with a GPU; needs Python and torch, no compiler.

    python tests/gpu/run.py [--build DIR] [--only TEXT] [--slice 2/8] [--full]
    python tests/gpu/run.py [--build DIR] --sanitize memcheck|racecheck

DIR must contain the program gpu_test, which runs kernels written as text and the matrix of all
operations and formats. The tests in test_*.py use the package. The matrix runs in one process per
core. The archive of `make gpu-bundle` can be unpacked and run anywhere. --sanitize runs only the
kept schedules (an example of every step) and the default plans (a case of every rule), under
NVIDIA's compute-sanitizer.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
import traceback
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MOST_LINES = 150  # printed for a failed process
SANITIZED = "*BoundSchedule*:*DefaultPlan*:Parts.*"


def run_in_parts(command: list[str], environments: list[dict[str, str]]) -> tuple[int, str]:
    """Runs a process for each environment, on its own core. Prints the output of those that fail.
    Returns the number of failures and the output of all."""
    cores = sorted(os.sched_getaffinity(0))
    running = [
        subprocess.Popen(
            command,
            env=os.environ | environment,
            preexec_fn=partial(os.sched_setaffinity, 0, {cores[at % len(cores)]}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for at, environment in enumerate(environments)
    ]
    texts = [process.communicate()[0] for process in running]
    failed = [text for text, process in zip(texts, running, strict=True) if process.returncode]
    for text in failed:
        told = [line for line in text.splitlines() if not re.match(r"\[ (RUN|      OK) ", line)]
        print("\n".join(told[:MOST_LINES]))
    return len(failed), "\n".join(texts)


def shards() -> list[dict[str, str]]:
    """The environments that distribute GoogleTest's tests over one process per core."""
    count = len(os.sched_getaffinity(0))
    return [{"GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(at)} for at in range(count)]


def passed_in(text: str) -> int:
    """The number of passed tests in GoogleTest's output."""
    return sum(int(count) for count in re.findall(r"^\[  PASSED  \] (\d+)", text, re.MULTILINE))


def run_program(program: Path) -> int:
    """Runs all tests except the matrix. Returns the number of failed processes."""
    failed, text = run_in_parts([str(program), "--gtest_filter=-*Matrix*"], shards())
    print(f"kernels, plans and schedules: {passed_in(text)} tests passed", flush=True)
    return failed


def run_matrix(program: Path, which: int, slices: int) -> int:
    """Runs the matrix. Returns the number of failed processes."""
    cores = len(os.sched_getaffinity(0))
    parts = [
        {"TULLE_TEST_SLICE": f"{(which - 1) * cores + at + 1}/{slices * cores}"}
        for at in range(cores)
    ]
    failed, text = run_in_parts([str(program), "--gtest_filter=*Matrix*"], parts)
    found = re.findall(r"^matrix: (\d+) cells, (\d+) right$", text, re.MULTILINE)
    cells, right = (sum(int(pair[at]) for pair in found) for at in range(2))
    print(f"matrix on the GPU, slice {which} of {slices}: {cells} cells, {right} right", flush=True)
    return failed


def run_sanitized(program: Path, tool: str) -> int:
    """Returns 1 if compute-sanitizer is missing or reports an error, else 0."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    places = os.pathsep.join([os.environ.get("PATH", ""), f"{home}/bin"])
    sanitizer = shutil.which("compute-sanitizer", path=places)
    if not sanitizer:
        print(
            "compute-sanitizer is missing. Install NVIDIA's CUDA toolkit and set PATH or CUDA_HOME."
        )
        return 1
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", str(program)]
    failed, text = run_in_parts([*command, f"--gtest_filter={SANITIZED}"], shards())
    print(*sorted(set(re.findall(r"^=+ (\w+ SUMMARY: .*)$", text, re.MULTILINE))), sep="\n")
    found = "FAILED" if failed else "clean"
    print(f"{tool} of {passed_in(text)} kept schedules and default plans: {found}", flush=True)
    return 1 if failed else 0


def run_python(only: str) -> int:
    """Runs the tests in Python. Returns the number of failures."""
    package = str(ROOT / "python")
    sys.path.insert(0, package)
    os.environ["PYTHONPATH"] = os.pathsep.join(  # for processes that tests start
        filter(None, [package, os.environ.get("PYTHONPATH")])
    )
    failed = 0
    for path in sorted(HERE.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, test in list(vars(module).items()):
            if not name.startswith("test_") or only not in name:
                continue
            start = time.perf_counter()
            try:
                test()
                verdict = "ok"
            except Exception:
                traceback.print_exc()
                verdict = "FAILED"
                failed += 1
            print(f"{verdict:6} {path.stem}.{name} {time.perf_counter() - start:.2f} s", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the tests for the GPU.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--only", default="", help="tests of the package whose name has this")
    parser.add_argument("--slice", default="1/1", help="2/8: the second of eight of the matrix")
    parser.add_argument("--full", action="store_true", help="all cells of the matrix, not a sample")
    parser.add_argument("--sanitize", choices=["memcheck", "racecheck"], help="small cases only")
    options = parser.parse_args()
    if options.sanitize:
        return run_sanitized(options.build / "gpu_test", options.sanitize)
    if options.full:
        os.environ["TULLE_TEST_FULL"] = "1"
    failed = 0
    if not options.only:
        program = options.build / "gpu_test"
        failed += run_program(program)
        which, slices = (int(number) for number in options.slice.split("/"))
        failed += run_matrix(program, which, slices)
    failed += run_python(options.only)
    print("all passed" if not failed else "FAILED")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
