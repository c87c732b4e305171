#!/usr/bin/env python3
"""Checks that a tag, pyproject.toml and CHANGELOG.md name the same version: check_release.py v1.2.0

The first version in CHANGELOG.md must have a date: "## 1.2.0 (2026-03-01)".
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def problems(tag: str) -> list[str]:
    """The reasons why this tag cannot be released."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.*)"$', project, re.MULTILINE)
    if version is None:
        return ["pyproject.toml: no line of the form 'version = \"1.2.0\"'"]
    found = []
    if tag != f"v{version[1]}":
        found.append(f"the tag is {tag}, but pyproject.toml has the version {version[1]}")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## .*$", changelog, re.MULTILINE)
    first = heading[0] if heading else "no heading"
    if not re.fullmatch(rf"## {re.escape(version[1])} \(\d{{4}}-\d\d-\d\d\)", first):
        found.append(
            f"CHANGELOG.md: expected '## {version[1]} (YYYY-MM-DD)' first, but found '{first}'"
        )
    return found


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = problems(sys.argv[1])
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
