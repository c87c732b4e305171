"""What torch.compile checks before it runs a graph again.

Dynamo guards every function and module that it passes through, and checks all guards before each
call. It does not guard the code of torch, which does not change. Neither does this package, whose
guards would take longer than a small product.
"""

from __future__ import annotations

from typing import Any

from torch._guards import GuardsSet, TracingContext

from tulle.tensors import graph_boundary

# The names under which Dynamo imports modules whose functions it follows.
_PACKAGE = "__import_tulle"
_TREES = "__import_torch_dot_utils_dot__pytree"


def prepare() -> None:
    """Keeps guards on this package out of graphs, and those on torch's table of trees that the
    arguments of a recorded call bring about."""
    add = GuardsSet.add

    def add_needed(guards: GuardsSet, guard: Any, *args: Any, **kwargs: Any) -> None:
        if not _is_constant(guard.originating_source):
            add(guards, guard, *args, **kwargs)

    GuardsSet.add = add_needed


def _is_constant(source: Any) -> bool:
    """Whether the source is code or state of this package, or of torch in the service of it."""
    while source is not None:
        name = getattr(source, "global_name", "")
        if name == _PACKAGE or name.startswith(f"{_PACKAGE}_dot_"):
            return True
        if name == _TREES or getattr(source, "member", "") == "_pytree":
            return _is_at_boundary()
        source = getattr(source, "base", None)
    return False


def _is_at_boundary() -> bool:
    """Whether Dynamo is inside of a recorded call (`graph_boundary.in_graph`)."""
    return any(
        frame.filename == graph_boundary.__file__ for frame in TracingContext.extract_stack()
    )
