#!/usr/bin/env python3
"""Checks that tulle-opt reads its own output: read_back.py [OPTION...] FILE.

The script prints the program in FILE at each stage, with these options. The text of each stage must
give the same text at that stage and at all later stages.
"""

from __future__ import annotations

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

STAGES = ["expr", "plan", "nest", "schedule", "lower", "passes"]


def printed(start: str, stage: str, options: list[str], path: Path) -> str:
    command = ["tulle-opt", "--from", start, "--to", stage, *options, str(path)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> int:
    *options, file = sys.argv[1:]
    wanted = {stage: printed("expr", stage, options, Path(file)) for stage in STAGES}
    # From the plan on, the text contains the schedule.
    if "--schedule" in options:
        at = options.index("--schedule")
        del options[at : at + 2]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, start in enumerate(STAGES[1:], start=1):
            path = Path(folder, start)
            path.write_text(wanted[start], encoding="utf-8")
            for stage in STAGES[number:]:
                found = printed(start, stage, options, path)
                names = (f"{stage} in one go", f"{stage} from the text of {start}")
                lines = (wanted[stage].splitlines(True), found.splitlines(True))
                difference = list(difflib.unified_diff(*lines, *names))
                sys.stdout.writelines(difference)
                failed += bool(difference)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
