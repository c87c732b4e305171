#!/usr/bin/env python3
"""Runs the text tests: the RUN lines of every *.tl file, with tulle-opt and FileCheck in PATH.

A test is a file such as

    // RUN: tulle-opt --from loop --to loop %s | FileCheck %s
    // CHECK: for i in 0..n

%s is the file itself, %t a new temporary path. A test passes if each RUN line exits with 0.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUN = re.compile(r"^\s*(?://|#|;)\s*RUN:\s*(.*)$", re.MULTILINE)
TIMEOUT_SECONDS = 120


def find_filecheck() -> Path:
    """FileCheck of LLVM 22. Its folder also contains `not`."""
    candidates = [
        os.environ.get("FILECHECK"),
        "/usr/lib/llvm-22/bin/FileCheck",
        shutil.which("FileCheck-22"),
        shutil.which("FileCheck"),
    ]
    for candidate in candidates:
        if candidate and Path(candidate).exists():
            return Path(candidate).resolve()
    sys.exit("FileCheck is missing. Install llvm-22-tools, or set FILECHECK to its path.")


def commands(path: Path) -> list[str]:
    """The RUN lines, with continued lines joined."""
    result: list[str] = []
    continued = False
    for line in RUN.findall(path.read_text(encoding="utf-8")):
        text = line.strip()
        piece = text.removesuffix("\\").strip()
        if continued:
            result[-1] += " " + piece
        else:
            result.append(piece)
        continued = text.endswith("\\")
    return result


def run_test(path: Path, environment: dict[str, str]) -> str | None:
    """None if the test passes, otherwise the error."""
    lines = commands(path)
    if not lines:
        return "no RUN line"
    with tempfile.TemporaryDirectory() as folder:
        for line in lines:
            command = line.replace("%s", shlex.quote(str(path)))
            command = command.replace("%t", shlex.quote(f"{folder}/t"))
            try:
                result = subprocess.run(
                    ["bash", "-o", "pipefail", "-c", command],
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=TIMEOUT_SECONDS,
                )
            except subprocess.TimeoutExpired:
                return f"$ {command}\nstill running after {TIMEOUT_SECONDS} s"
            if result.returncode != 0:
                return f"$ {command}\n{result.stdout}{result.stderr}".rstrip()
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the text tests.")
    parser.add_argument("tests", nargs="*", type=Path, help="files or folders; all by default")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="folder of tulle-opt")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    tests: list[Path] = []
    for place in options.tests or [HERE]:
        tests += sorted(place.resolve().rglob("*.tl")) if place.is_dir() else [place.resolve()]
    if not tests:
        print("text tests: none")
        return 0
    if not (options.build / "tulle-opt").exists():
        sys.exit(f"{options.build}/tulle-opt is missing: run 'make build', or name it by --build")

    environment = dict(os.environ)
    ptxas = Path(sysconfig.get_path("purelib"), "nvidia", "cuda_nvcc", "bin")
    places = [str(options.build.resolve()), str(find_filecheck().parent), str(ptxas)]
    environment["PATH"] = ":".join([*places, environment.get("PATH", "/usr/bin:/bin")])

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda path: run_test(path, environment), tests)
        for path, problem in zip(tests, results, strict=True):
            if problem is not None:
                failed += 1
                print(f"FAILED {os.path.relpath(path)}\n{problem}\n")
    print(f"text tests: {len(tests) - failed} of {len(tests)} passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
