"""Checks that the READMEs of src/ and of the Python package name every file in their folders."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def unnamed(readme: Path, folder: Path) -> list[str]:
    """The files that the README does not name, neither with nor without the file extension."""
    text = readme.read_text(encoding="utf-8")
    stems = {path.stem for path in folder.iterdir() if path.suffix in (".h", ".cpp", ".py")}
    return sorted(stem for stem in stems if not re.search(rf"\b{re.escape(stem)}\b", text))


def main() -> int:
    readmes = [ROOT / "src/README.md", *sorted((ROOT / "src").glob("*/**/README.md"))]
    described = [(readme, readme.parent) for readme in readmes]
    described.append((ROOT / "python/README.md", ROOT / "python/tulle"))
    problems = [
        f"{readme.relative_to(ROOT)}: does not name {stem}"
        for readme, folder in described
        for stem in unnamed(readme, folder)
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
