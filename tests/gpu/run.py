"""Runs the tests of this folder on a machine with a GPU; needs Python and torch, no compiler.

    python tests/gpu/run.py [--build DIR] [--only TEXT] [--slice 2/8] [--full]
    python tests/gpu/run.py [--build DIR] --sanitize memcheck|racecheck

DIR holds the program gpu_test, which runs kernels written as text and the matrix of all operations
and formats; the tests in test_*.py use the package. The matrix runs in a process for each core,
since the driver assembles one kernel of a process at a time. What `make gpu-bundle` packs can be
unpacked anywhere and run from there. With --sanitize the kept schedules, an example of every step,
and the default plans, a case of every rule, run under NVIDIA's compute-sanitizer, and nothing else
does.
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
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SANITIZED = "*BoundSchedule*:*DefaultPlan*:Parts.*"


def run_matrix(program: Path, which: int, slices: int) -> int:
    """The number of processes that found something wrong."""
    cores = sorted(os.sched_getaffinity(0))
    running = []
    for at, core in enumerate(cores):
        part = f"{(which - 1) * len(cores) + at + 1}/{slices * len(cores)}"
        command = ["taskset", "-c", str(core), str(program), "--gtest_filter=*Matrix*"]
        environment = os.environ | {"TULLE_TEST_SLICE": part}
        running.append(
            subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    texts = [process.communicate()[0] for process in running]
    failed = [text for text, process in zip(texts, running, strict=True) if process.returncode]
    for text in failed:
        print("\n".join(text.splitlines()[-60:]))
    found = re.findall(r"^matrix: (\d+) cells, (\d+) right$", "\n".join(texts), re.MULTILINE)
    cells, right = (sum(int(pair[at]) for pair in found) for at in range(2))
    print(f"matrix on the GPU, slice {which} of {slices}: {cells} cells, {right} right", flush=True)
    return len(failed)


def run_sanitized(program: Path, tool: str) -> int:
    """1 if compute-sanitizer is not there or finds something, else 0."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    places = os.pathsep.join([os.environ.get("PATH", ""), f"{home}/bin"])
    sanitizer = shutil.which("compute-sanitizer", path=places)
    if not sanitizer:
        print("compute-sanitizer, of NVIDIA's CUDA toolkit, is not in PATH or CUDA_HOME/bin")
        return 1
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", str(program)]
    status = subprocess.call([*command, f"--gtest_filter={SANITIZED}"])
    found = "clean" if status == 0 else "FAILED"
    print(f"{tool} of kept schedules and default plans: {found}", flush=True)
    return 1 if status else 0


def run_python(only: str) -> int:
    """The number of tests that failed."""
    sys.path.insert(0, str(ROOT / "python"))
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
        failed += subprocess.call([program, "--gtest_filter=-*Matrix*"])
        which, slices = (int(number) for number in options.slice.split("/"))
        failed += run_matrix(program, which, slices)
    failed += run_python(options.only)
    print("all passed" if not failed else "FAILED")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
