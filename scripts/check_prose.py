#!/usr/bin/env python3
"""Checks that lines of prose in Markdown files have at most 120 characters.

Code blocks and tables may be wider.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 120

FENCE = re.compile(r"\s*(```|~~~)")
TABLE_ROW = re.compile(r"\s*\|")


def markdown_files() -> list[Path]:
    """The Markdown files of the repository, new files included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(Path(line) for line in listed.stdout.splitlines() if (ROOT / line).exists())


def long_lines(text: str) -> list[int]:
    """The numbers of the lines of prose that are too long."""
    found = []
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            in_code = not in_code
        elif not in_code and len(line) > WIDTH and not TABLE_ROW.match(line):
            found.append(number)
    return found


def main() -> int:
    problems = [
        f"{file}:{number}: longer than {WIDTH} characters; wrap the line"
        for file in markdown_files()
        for number in long_lines((ROOT / file).read_text(encoding="utf-8"))
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
