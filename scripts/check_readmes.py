"""Checks that the README of each folder of src/ names every file in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def unnamed(folder: Path) -> list[str]:
    """The files of a folder that its README does not name, with or without their endings."""
    readme = (folder / "README.md").read_text(encoding="utf-8")
    stems = {path.stem for path in folder.iterdir() if path.suffix in (".h", ".cpp")}
    return sorted(stem for stem in stems if not re.search(rf"\b{re.escape(stem)}\b", readme))


def main() -> int:
    folders = [ROOT / "src", *sorted(p.parent for p in (ROOT / "src").glob("*/**/README.md"))]
    problems = [
        f"{folder.relative_to(ROOT)}/README.md: does not name {stem}"
        for folder in folders
        for stem in unnamed(folder)
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
