#!/usr/bin/env python3
"""Checks the stages quoted in src/README.md against the output of tulle-opt. --refresh writes them.

A quotation is a code block below a comment that names a stage of tests/text/walk.tl:

    <!-- quote nest -->
    <!-- quote lower from /for i in/ to /^    }/ -->

The patterns select the first matching line and the next matching line after it. Estimated costs are
omitted, because they change with the cost model. The script searches tulle-opt in PATH, then in
build/.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "src" / "README.md"
PROGRAM = ROOT / "tests" / "text" / "walk.tl"
# A fixed target, so that the output is the same on every machine.
OPTIONS = ["--from", "expr", "--target", "avx2", "--threads", "2"]
QUOTATION = re.compile(
    r"^(<!-- quote (?P<stage>\w+)(?: from /(?P<first>.*?)/ to /(?P<last>.*?)/)? -->\n```\w*\n)"
    r".*?^(?=```$)",
    re.MULTILINE | re.DOTALL,
)


@functools.cache
def printed(stage: str) -> str:
    """The output of tulle-opt for the stage."""
    tool = shutil.which("tulle-opt") or str(ROOT / "build" / "tulle-opt")
    command = [tool, *OPTIONS, "--to", stage, str(PROGRAM)]
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.sub(r"(estimated cost) [\d.e+]+", r"\1 ...", text).expandtabs(8)


def excerpt(stage: str, first: str | None, last: str | None) -> str:
    """The lines of a stage from one that matches `first` to the next that matches `last`."""
    text = printed(stage)
    if first is None or last is None:
        return text
    lines = text.splitlines(keepends=True)
    begin = next((n for n, line in enumerate(lines) if re.search(first, line)), len(lines))
    end = next(
        (n for n in range(begin + 1, len(lines)) if re.search(last, lines[n])), len(lines) - 1
    )
    if begin == len(lines):
        sys.exit(f"{stage}: no line matches /{first}/")
    return textwrap.dedent("".join(lines[begin : end + 1]))


def quoted(match: re.Match[str]) -> str:
    return match[1] + excerpt(match["stage"], match["first"], match["last"])


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the stages quoted in src/README.md.")
    parser.add_argument("--refresh", action="store_true", help="write the quotations instead")
    options = parser.parse_args()
    old = DOCUMENT.read_text(encoding="utf-8")
    if not QUOTATION.search(old):
        sys.exit(f"{DOCUMENT} quotes nothing")
    new = QUOTATION.sub(quoted, old)
    if options.refresh:
        DOCUMENT.write_text(new, encoding="utf-8")
    elif new != old:
        name = os.path.relpath(DOCUMENT, ROOT)
        before, after = old.splitlines(True), new.splitlines(True)
        print("".join(difflib.unified_diff(before, after, name, "what tulle-opt prints")))
        print(f"{name} is no longer true: python3 tests/text/quote_stages.py --refresh")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
