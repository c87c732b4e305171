#!/usr/bin/env python3
"""Runs clang-tidy on the sources of the build that changed since they last passed.

The script checks a source again if the source, a header that it includes, or .clang-tidy is newer
than its stamp file in <build>/tidy. Ninja's dependency log lists the included headers.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tools", "tests")
# The build may use GCC, which has warning options that clang does not know.
EXTRA = ("--extra-arg=-Wno-unknown-warning-option",)


def sources(build: Path) -> list[Path]:
    """The project's sources in the compilation database, without duplicates."""
    entries = json.loads((build / "compile_commands.json").read_text())
    files = {Path(entry["file"]).resolve() for entry in entries}
    return sorted(
        f for f in files if f.is_relative_to(ROOT) and f.relative_to(ROOT).parts[0] in FOLDERS
    )


def headers(build: Path) -> dict[Path, list[Path]]:
    """The project's headers that each source included when it was last compiled."""
    known: dict[Path, list[Path]] = {}
    result = subprocess.run(
        ["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True
    )
    for block in result.stdout.split("\n\n"):
        paths = [
            (build / line.strip()).resolve() for line in block.splitlines()[1:] if line.strip()
        ]
        ours = [
            path for path in paths if path.is_relative_to(ROOT) and not path.is_relative_to(build)
        ]
        if ours:
            known[ours[0]] = ours[1:]
    return known


def newest(paths: list[Path]) -> float:
    return max((path.stat().st_mtime for path in paths if path.exists()), default=0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs clang-tidy on the sources that changed.")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--clang-tidy", default="clang-tidy-22")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "files", nargs="*", type=Path, help="check only these, and ignore their stamps"
    )
    options = parser.parse_args()
    build = options.build.resolve()
    stamps = build / "tidy"

    def stamp(source: Path) -> Path:
        return stamps / source.relative_to(ROOT).with_suffix(".passed")

    known = headers(build)
    todo = [path.resolve() for path in options.files]
    for source in [] if todo else sources(build):
        # Ninja has no entry for a source that was never compiled: it may include every header.
        included = known.get(source)
        if included is None:
            included = [
                path for place in ("src", "include") for path in (ROOT / place).rglob("*.h")
            ]
        passed = stamp(source).stat().st_mtime if stamp(source).exists() else 0.0
        if passed < newest([source, ROOT / ".clang-tidy", *included]):
            todo.append(source)

    def check(source: Path) -> str:
        command = [options.clang_tidy, "--quiet", "-p", str(build), *EXTRA, str(source)]
        begun = os.times().elapsed
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            return result.stdout or result.stderr
        stamp(source).parent.mkdir(parents=True, exist_ok=True)
        stamp(source).touch()
        if os.environ.get("TULLE_TIDY_TIMES"):
            print(f"{os.times().elapsed - begun:6.1f} s  {source.relative_to(ROOT)}")
        return ""

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for report in pool.map(check, todo):
            if report:
                failed += 1
                print(report)
    print(f"    clang-tidy: {len(todo)} checked, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
