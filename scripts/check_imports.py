#!/usr/bin/env python3
"""Checks which subpackage of python/tulle imports which.

A subpackage imports only the ones that the table lists for it. The imports of modules have no
cycle. No import is inside a function, except imports of optional packages and of slow ones.
"""

from __future__ import annotations

import ast
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# subpackage: the subpackages that it may import. The files directly in tulle/ may import all.
MAY_IMPORT: dict[str, list[str]] = {
    "support": [],
    "library": ["support"],
    "plotting": ["support"],
    "tensors": ["support", "library", "plotting"],
    "interchange": ["support", "library", "tensors"],
    "programs": ["support", "library", "tensors", "interchange"],
    "notation": ["support", "tensors", "programs"],
    "nn": ["support", "library", "tensors"],
    "restructuring": ["support", "library", "tensors", "programs"],
    "operators": [
        *("support", "library", "tensors", "interchange", "programs", "notation"),
        "restructuring",
    ],
    "tuning": ["support", "library", "plotting", "tensors", "programs", "notation"],
    "command_line": [
        *("support", "library", "plotting", "interchange", "programs", "notation", "tuning"),
    ],
}

OPTIONAL_PACKAGES = {"matplotlib", "scipy", "tqdm"}
# Importing it takes a second, so only code that runs after another import of it imports it.
SLOW_PACKAGE = "torch._dynamo"

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/tulle"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Import(NamedTuple):
    """An imported name."""

    line: int
    name: str  # with the package: "tulle.tensors.formats"
    is_in_function: bool
    is_for_types: bool  # below `if TYPE_CHECKING`


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(
    node: ast.AST, modules: set[str], in_function: bool = False, for_types: bool = False
) -> Iterator[Import]:
    """The imports below a node of the syntax tree."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(child.lineno, alias.name, in_function, for_types)
        elif isinstance(child, ast.ImportFrom):
            base = "." * child.level + (child.module or "")
            for alias in child.names:
                full = f"{base}.{alias.name}"
                found = full if full in modules else base
                yield Import(child.lineno, found, in_function, for_types)
        else:
            is_guard = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            yield from imports_of(
                child,
                modules,
                in_function or isinstance(child, FUNCTIONS),
                for_types or is_guard,
            )


def problem_with(module: str, found: Import) -> str:
    """The error in an import of a module. Empty if there is none."""
    top = found.name.split(".")[0]
    if not top:
        return "name the module from the package, not relative to this file"
    if top in OPTIONAL_PACKAGES:
        is_allowed = found.is_in_function or found.is_for_types
        return "" if is_allowed else f"{top} is optional: import it in the function that needs it"
    if found.name.startswith(SLOW_PACKAGE) and found.is_in_function:
        return ""
    if found.is_in_function:
        return f"{found.name} is imported inside a function"
    parts, own = found.name.split("."), module.split(".")
    if top != "tulle" or len(own) < 3:
        return ""
    if len(parts) < 2 or parts[1] not in MAY_IMPORT:
        return f"import from a subpackage, not from {found.name}"
    if parts[1] != own[1] and parts[1] not in MAY_IMPORT[own[1]]:
        return f"tulle.{own[1]} may not import tulle.{parts[1]}"
    return ""


def main() -> int:
    paths = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    problems = [
        f"python/tulle/{name}: not in the table of {Path(__file__).name}"
        for name in sorted(folders - MAY_IMPORT.keys())
    ]
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = list(imports_of(tree, set(paths)))
        graph[module] = {one.name for one in found if one.name in paths and one.name != module}
        for one in found:
            if problem := problem_with(module, one):
                problems.append(f"{path.relative_to(ROOT)}:{one.line}: {problem}")
    for kind, dependencies in (("subpackages", MAY_IMPORT), ("modules", graph)):
        try:
            graphlib.TopologicalSorter(dependencies).prepare()
        except graphlib.CycleError as error:
            problems.append(f"{kind} import each other: {' <- '.join(error.args[1])}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
