#!/usr/bin/env python3
"""Checks which folder of src/ includes which; prints the table for CMake with --cmake.

Data folders know nothing of stages, a stage knows the data it reads and writes and no other stage.
The files directly in src/ (the driver) may include everything. Nobody tells level kinds apart by
name: that is what their properties are for.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# folder: the folders of src/ it may include ("tulle" is the public API in include/).
MAY_INCLUDE: dict[str, list[str]] = {
    "support": [],
    "format": ["support"],
    "expr": ["support", "format"],
    "nest": ["support", "format", "expr"],
    "loop": ["support"],
    "schedule": ["support", "format", "expr", "nest"],
    "plan": ["support", "format", "expr", "nest", "schedule"],
    "lower": ["support", "format", "expr", "nest", "loop"],
    "passes": ["support", "loop"],
    "codegen": ["support", "loop"],
    "jit": ["support", "loop"],
    "runtime": ["support", "format", "loop"],
    "torch": ["tulle"],
}

# folder: what tests/<folder> may use beyond the folder and what that includes. A folder of tests/
# that is not a folder of src/ may use everything.
TESTS_ALSO_USE: dict[str, list[str]] = {
    "codegen": ["jit"],
    "jit": ["codegen"],
    "runtime": ["codegen", "jit"],
}

# The words of the public API that every folder speaks: self-contained headers.
VOCABULARY = ["tulle/dtype.h", "tulle/error.h", "tulle/export.h", "tulle/type_names.h"]

# The folders that may include LLVM's headers: they take long to compile, so they stay in few files.
MAY_INCLUDE_LLVM = ["codegen", "jit"]

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
LEVEL_KIND_COMPARED = re.compile(r"(?:case|[!=]=) LevelKind::\w+|LevelKind::\w+ [!=]=")
SOURCES = {".h", ".cpp", ".inc", ".def"}


def closure(folder: str) -> list[str]:
    """The folder and everything it includes, directly or not, in the order of the table."""
    seen = {folder}
    todo = [folder]
    while todo:
        for other in MAY_INCLUDE.get(todo.pop(), []):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return [name for name in MAY_INCLUDE if name in seen]


def test_closure(folder: str) -> list[str]:
    """What tests/<folder> may use and is linked with."""
    seen = set(closure(folder))
    for other in TESTS_ALSO_USE.get(folder, []):
        seen.update(closure(other))
    return [name for name in MAY_INCLUDE if name in seen]


def allowed(path: Path) -> set[str] | None:
    """The folders that this file may include; None if all of them."""
    area, *rest = path.relative_to(ROOT).parts
    if area == "include":
        return {"tulle"}
    folder = rest[0] if len(rest) > 1 else ""
    if folder not in MAY_INCLUDE:
        return None
    if area == "tests":
        return {*test_closure(folder), "tulle"}
    return {folder, *MAY_INCLUDE[folder]}


def check(path: Path) -> list[str]:
    """What is wrong with the includes of one file."""
    may = allowed(path)
    problems = []
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        quote, name = match.groups()
        where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start(1)) + 1}"
        first = name.split("/")[0]
        area, *rest = path.relative_to(ROOT).parts
        if first in ("llvm", "llvm-c"):
            if area == "include" or (may is not None and not may & set(MAY_INCLUDE_LLVM)):
                problems.append(f"{where}: LLVM belongs into {MAY_INCLUDE_LLVM}: {name}")
            continue
        if quote == "<" or name in VOCABULARY:
            continue
        if ".." in name.split("/"):
            problems.append(f"{where}: name it from src/ (\"folder/file.h\"), not by '..': {name}")
        if may is not None and (first in MAY_INCLUDE or first == "tulle") and first not in may:
            problems.append(f"{where}: {area}/{rest[0]} may not include {first}/: {name}")
        if area == "src" and may is not None and "/" not in name and (ROOT / "src" / name).exists():
            problems.append(f"{where}: only the driver knows {name}")
    for match in LEVEL_KIND_COMPARED.finditer(text if path.is_relative_to(ROOT / "src") else ""):
        where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        if match[0] != "case LevelKind::name":  # which the table writes for every kind
            problems.append(f"{where}: ask for a property of format/level_kind.h: {match[0]}")
    return problems


def print_for_cmake() -> None:
    """A line for each folder: what its tests link; then the folders that use LLVM."""
    for folder in MAY_INCLUDE:
        if folder != "torch":
            print(f"{folder}={','.join(test_closure(folder))}")
    print(f"LLVM={','.join(MAY_INCLUDE_LLVM)}")


def main() -> int:
    if sys.argv[1:] == ["--cmake"]:
        print_for_cmake()
        return 0
    problems = []
    for folder in sorted(p.name for p in (ROOT / "src").iterdir() if p.is_dir()):
        if folder not in MAY_INCLUDE:
            problems.append(f"src/{folder}: not in the table of {Path(__file__).name}")
    for area in ("include", "src", "tests"):
        for path in sorted((ROOT / area).rglob("*")):
            if path.suffix in SOURCES:
                problems += check(path)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
