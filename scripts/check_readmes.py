"""Checks the READMEs of the code.

The READMEs of src/ name every file in their folders. The README of the Python package names every
subpackage, and each subpackage and module has a docstring.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def unnamed(readme: Path, folder: Path) -> list[str]:
    """The files that the README does not name, neither with nor without the file extension."""
    text = readme.read_text(encoding="utf-8")
    stems = {path.stem for path in folder.iterdir() if path.suffix in (".h", ".cpp")}
    return sorted(stem for stem in stems if not is_named(stem, text))


def is_named(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def check_package() -> list[str]:
    """The subpackages that the README does not name, and modules without a docstring."""
    package = ROOT / "python/tulle"
    text = (ROOT / "python/README.md").read_text(encoding="utf-8")
    folders = sorted(path.parent.name for path in package.glob("*/__init__.py"))
    problems = [
        f"python/README.md: does not name {name}" for name in folders if not is_named(name, text)
    ]
    for path in sorted(package.rglob("*.py")):
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))):
            problems.append(f"{path.relative_to(ROOT)}: has no docstring")
    return problems


def main() -> int:
    readmes = [ROOT / "src/README.md", *sorted((ROOT / "src").glob("*/**/README.md"))]
    described = [(readme, readme.parent) for readme in readmes]
    problems = [
        f"{readme.relative_to(ROOT)}: does not name {stem}"
        for readme, folder in described
        for stem in unnamed(readme, folder)
    ]
    problems += check_package()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
