#!/usr/bin/env python3
"""Checks which folder of src/ includes which. With --cmake, prints the table for CMake.

Data folders include no stage. A stage includes the data that it reads and writes, and no other
stage. kernels/, cache/, driver/, composite/ and api/ compose the stages. No code compares level
kinds by name: it queries their properties.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# folder: the folders of src/ it may include ("tulle" is the public API in include/).
MAY_INCLUDE: dict[str, list[str]] = {
    # data and stages
    "support": [],
    "format": ["support"],
    "expr": ["support", "format"],
    "grad": ["support", "format", "expr"],
    "nest": ["support", "format", "expr"],
    "loop": ["support"],
    "schedule": ["support", "format", "expr", "nest"],
    "plan": ["support", "format", "expr", "nest", "schedule"],
    "lower": ["support", "format", "expr", "nest", "loop"],
    "passes": ["support", "loop"],
    "codegen": ["support", "loop"],
    "jit": ["support", "loop"],
    "runtime": ["support", "format", "loop"],
    # composition of stages
    "kernels": ["support", "loop", "passes", "codegen", "jit", "runtime", "tulle"],
    "cache": ["support", "jit", "tulle"],
    "driver": [
        *("support", "format", "expr", "nest", "loop", "schedule", "plan", "lower"),
        *("codegen", "jit", "runtime", "kernels", "cache", "tulle"),
    ],
    "composite": [
        *("support", "format", "expr", "loop", "schedule", "plan", "lower"),
        *("runtime", "kernels", "driver", "tulle"),
    ],
    "api": [
        *("support", "format", "expr", "grad", "schedule", "plan", "jit", "runtime"),
        *("kernels", "cache", "driver", "composite", "tulle"),
    ],
    "torch": ["tulle"],
}

# subfolder: the other subfolders of its folder that it may include, and the files right in that
# folder ("*": all of them).
MAY_INCLUDE_WITHIN: dict[str, list[str]] = {
    "lower/levels": ["emitter.h", "monoid.h"],
    "lower/result": ["*", "levels"],
    "lower/workspaces": ["*", "levels", "result"],
    "lower/programs": ["*", "levels", "result"],
    "lower/loops": ["*", "levels", "result", "workspaces", "programs"],
    "plan/rewrite": ["*"],
    "plan/order": ["*", "rewrite"],
    "plan/cpu": ["*", "rewrite", "order"],
    "plan/gpu": ["*", "rewrite", "order"],
    "plan/tune": ["*", "rewrite", "order"],
}

# folder: the folders that tests/<folder> may use beside the folder and its includes. A folder of
# tests/ that is not a folder of src/ may use everything.
TESTS_ALSO_USE: dict[str, list[str]] = {
    "codegen": ["jit"],
    "jit": ["codegen"],
    "runtime": ["codegen", "jit"],
}

# Self-contained headers of the public API that every folder may include.
VOCABULARY = [
    "tulle/derivative_tensors.h",
    "tulle/dtype.h",
    "tulle/error.h",
    "tulle/export.h",
    "tulle/type_names.h",
]

# The folders that may include LLVM's headers, which compile slowly.
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
            if other in MAY_INCLUDE and other not in seen:
                seen.add(other)
                todo.append(other)
    return [name for name in MAY_INCLUDE if name in seen]


def test_closure(folder: str) -> list[str]:
    """The folders that tests/<folder> may include and links."""
    seen = set(closure(folder))
    for other in TESTS_ALSO_USE.get(folder, []):
        seen.update(closure(other))
    return [name for name in MAY_INCLUDE if name in seen]


def allowed(path: Path) -> set[str] | None:
    """The folders that this file may include; None if it may include all."""
    area, *rest = path.relative_to(ROOT).parts
    if area == "include":
        return {"tulle"}
    folder = rest[0] if len(rest) > 1 else ""
    if folder not in MAY_INCLUDE:
        return None
    if area == "tests":
        return {*test_closure(folder), "tulle"}
    return {folder, *MAY_INCLUDE[folder]}


def within(path: Path, name: str) -> bool:
    """Whether a file of a subfolder may include this file of its own folder."""
    folder = str(path.relative_to(ROOT / "src").parent)
    outer, _, inner = folder.partition("/")
    if folder not in MAY_INCLUDE_WITHIN or not name.startswith(f"{outer}/"):
        return True
    first, *rest = name.split("/")[1:]
    may = MAY_INCLUDE_WITHIN[folder]
    return first in (inner, *may) or (not rest and "*" in may)


def cycles() -> list[str]:
    """The folders of the table that include themselves through others."""
    return [
        f"{folder}: includes itself through {other}"
        for folder, others in MAY_INCLUDE.items()
        for other in others
        if other in MAY_INCLUDE and folder in closure(other)
    ]


def check(path: Path) -> list[str]:
    """The errors in the includes of one file."""
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
                problems.append(f"{where}: only {MAY_INCLUDE_LLVM} may include LLVM: {name}")
            continue
        if quote == "<" or name in VOCABULARY:
            continue
        if ".." in name.split("/"):
            problems.append(
                f"{where}: write the path from src/ (\"folder/file.h\") without '..': {name}"
            )
        if may is not None and (first in MAY_INCLUDE or first == "tulle") and first not in may:
            problems.append(f"{where}: {area}/{rest[0]} may not include {first}/: {name}")
        if area == "src" and not within(path, name):
            problems.append(
                f"{where}: {path.parent.relative_to(ROOT / 'src')}/ may not include it: {name}"
            )
        # torch/ is compiled without src/ in its path, whose torch/ would hide PyTorch's headers.
        if area == "src" and rest[0] != "torch" and "/" not in name:
            problems.append(f'{where}: write the path from src/ ("folder/file.h"): {name}')
    for match in LEVEL_KIND_COMPARED.finditer(text if path.is_relative_to(ROOT / "src") else ""):
        where = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        if match[0] != "case LevelKind::name":  # in the code that the table generates
            problems.append(f"{where}: use a property from format/level_kind.h: {match[0]}")
    return problems


def print_for_cmake() -> None:
    """Prints the folders that the tests of each folder link, then the folders that use LLVM."""
    for folder in MAY_INCLUDE:
        if folder != "torch":
            print(f"{folder}={','.join(test_closure(folder))}")
    print(f"LLVM={','.join(MAY_INCLUDE_LLVM)}")


def main() -> int:
    if sys.argv[1:] == ["--cmake"]:
        print_for_cmake()
        return 0
    problems = []
    for path in sorted((ROOT / "src").iterdir()):
        if path.is_dir() and path.name not in MAY_INCLUDE:
            problems.append(f"src/{path.name}: not in the table of {Path(__file__).name}")
        if path.suffix in SOURCES:
            problems.append(f"src/{path.name}: move this file into a folder")
    problems += cycles()
    for area in ("include", "src", "tests"):
        for path in sorted((ROOT / area).rglob("*")):
            if path.suffix in SOURCES:
                problems += check(path)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
