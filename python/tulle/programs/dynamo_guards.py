"""What torch.compile checks before it runs a graph again.

Dynamo guards every function and module that it passes through, and checks all guards before each
call. It does not guard the code of torch, which does not change. Neither does this package, whose
guards would take longer than a small product.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch._guards import GuardsSet, TracingContext

from tulle.tensors import graph_boundary

# The names under which Dynamo imports modules whose functions it follows, and builtins.
_PACKAGE = "__import_tulle"
_TREES = "__import_torch_dot_utils_dot__pytree"
_BUILTINS = "__builtins_dict__"
_FOLDER = f"{Path(graph_boundary.__file__).parents[1]}{os.sep}"


def prepare() -> None:
    """Keeps guards out of graphs that are on this package, or on builtins and torch's table of
    trees for the sake of this package."""
    add = GuardsSet.add

    def add_needed(guards: GuardsSet, guard: Any, *args: Any, **kwargs: Any) -> None:
        if not _is_constant(guard.originating_source):
            add(guards, guard, *args, **kwargs)

    GuardsSet.add = add_needed


def _is_constant(source: Any) -> bool:
    """Whether the source is code or state of this package, or is needed by it and constant."""
    while source is not None:
        name = getattr(source, "global_name", "")
        if name == _PACKAGE or name.startswith(f"{_PACKAGE}_dot_"):
            return True
        if name == _TREES or name.startswith(_BUILTINS) or _member(source) == "_pytree":
            return _is_in_package()
        source = getattr(source, "base", None)
    return False


def _member(source: Any) -> str:
    """The attribute that the source reads."""
    found: str = getattr(source, "member", "")
    return found


def _is_in_package() -> bool:
    """Whether Dynamo is inside of a function of this package."""
    return any(frame.filename.startswith(_FOLDER) for frame in TracingContext.extract_stack())
