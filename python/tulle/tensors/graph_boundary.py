"""Functions that torch.compile records as one call each.

Dynamo, the tracer of torch.compile, follows Python code. It cannot follow the code that finds
programs, which uses tables and operators that return text. A function made by `recorded` is a
boundary: Dynamo takes its arguments apart into tensors and sizes, records one opaque call, and puts
the results together. The next stage of torch.compile runs the function on tensors without memory,
where `graph_calls` records the operators.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor
from torch._guards import detect_fake_mode
from torch.compiler import is_compiling
from torch.utils import _pytree as pytree

from tulle.support.errors import Unsupported, UserError
from tulle.tensors.composite_pattern import CompositePattern, pattern_in_graph, reassembled
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern, living_pattern
from tulle.tensors.sparse_tensor import SparseTensor

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

# The functions by name.
_functions: dict[str, Callable[..., Any]] = {}


def recorded(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """The function, which torch.compile records as one call. Its arguments and results are sparse
    and dense tensors, numbers, constants, and tuples and lists of these."""
    name = f"{function.__module__}.{function.__qualname__}.{len(_functions)}"
    _functions[name] = function

    @wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        if is_compiling():
            result: _Result = in_graph(name, args, kwargs)
            return result
        return function(*args, **kwargs)

    return call


def in_graph(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call of a function as Dynamo follows it."""
    leaves: list[Any] = []
    positional = [_take_apart(arg, leaves) for arg in args]
    named = [(key, _take_apart(value, leaves)) for key, value in kwargs.items()]
    found = opaque_call(name, positional, named, leaves)
    result, _ = _put_together(found.description, found.leaves, 0, pattern_in_graph)
    return result


class _TakenApart:
    """A result as a tree of torch: tensors and unknown sizes as leaves, the rest as context."""

    def __init__(self, leaves: list[Any], description: Any) -> None:
        self.leaves = leaves
        self.description = description


pytree.register_pytree_node(
    _TakenApart,
    lambda whole: (whole.leaves, whole.description),
    lambda leaves, description: _TakenApart(list(leaves), description),
)


def _opaque_call(
    name: str, positional: list[Any], named: list[Any], leaves: list[Any]
) -> _TakenApart:
    """Calls the function. Dynamo does not look inside."""
    at = 0
    args, kwargs = [], {}
    for description in positional:
        value, at = _put_together(description, leaves, at, pattern_of)
        args.append(value)
    for key, description in named:
        kwargs[key], at = _put_together(description, leaves, at, pattern_of)
    found: list[Any] = []
    try:
        description = _take_apart(_functions[name](*args, **kwargs), found, is_result=True)
    except (UserError, Unsupported) as error:
        if detect_fake_mode(leaves) is None:
            raise
        _forget_inner_sizes([])
        # Dynamo would not show the message. `in_graph` raises it.
        return _TakenApart([], ("error", type(error), str(error)))
    _forget_inner_sizes(found)
    return _TakenApart(found, description)


def _forget_inner_sizes(results: list[Any]) -> None:
    """Forgets the unknown sizes of intermediates. Dynamo demands that a call returns each unknown
    size that appears while it runs."""
    mode = detect_fake_mode()
    pending = mode.shape_env.pending_fresh_unbacked_symbols if mode and mode.shape_env else []
    if pending:
        symbolic_shapes = sys.modules["torch.fx.experimental.symbolic_shapes"]
        returned = symbolic_shapes.free_unbacked_symbols(results)
        pending[:] = [size for size in pending if size in returned]


# Replaced when Dynamo is imported (`dynamo`).
opaque_call = _opaque_call


def pattern_of(
    format_text: str,
    shape: tuple[int, ...],
    arrays: tuple[Tensor, ...],
    index_dtype: torch.dtype,
    counts: tuple[int, ...],
) -> Pattern:
    """The pattern outside of a graph. `counts` are the sizes of the parts of a composite one."""
    if counts:
        return reassembled(format_text, shape + counts, index_dtype, arrays)
    format = Format(format_text, len(shape))
    return living_pattern(format, shape, arrays) or Pattern(format, shape, arrays, index_dtype)


# Descriptions of values. They consist of text, numbers and tuples, which graphs can hold.


def _take_apart(value: Any, leaves: list[Any], is_result: bool = False) -> Any:
    """A description of the value, whose tensors and numbers are added to the leaves. Integers of
    results are leaves, because they may differ in the next call of the graph."""
    if isinstance(value, SparseTensor):
        pattern = value._pattern
        sizes = tuple([_take_apart(size, leaves, is_result) for size in pattern.shape])
        counts = pattern.counts if isinstance(pattern, CompositePattern) else ()
        leaves.extend(pattern.arrays)
        leaves.append(value._values)
        storage = (pattern._format_text, pattern.index_dtype, len(pattern.arrays), counts)
        return "sparse", storage, sizes
    if isinstance(value, tuple | list):
        kind = "list" if isinstance(value, list) else "tuple"
        return (kind, *[_take_apart(item, leaves, is_result) for item in value])
    if isinstance(value, slice):
        return (
            "slice",
            *[_take_apart(at, leaves, is_result) for at in (value.start, value.stop, value.step)],
        )
    if isinstance(value, Format):
        return "format", value._text, -1 if value.rank is None else value.rank
    if value is None:
        return ("none",)
    if value is Ellipsis:
        return ("ellipsis",)
    if isinstance(value, str | bool | float | torch.dtype | torch.device):
        return "constant", value
    if type(value) is int and not is_result:
        return "constant", value
    leaves.append(value)
    return ("leaf",)


def _put_together(
    description: Any, leaves: list[Any], at: int, make_pattern: Callable[..., Pattern]
) -> tuple[Any, int]:
    """The value of this description with the leaves from number `at` on, and the number of the
    leaf behind them."""
    kind = description[0]
    if kind == "error":
        raise description[1](description[2])
    if kind == "sparse":
        _, (format_text, index_dtype, arrays, counts), described = description
        sizes = []
        for one in described:
            size, at = _put_together(one, leaves, at, make_pattern)
            sizes.append(size)
        last = at + arrays
        pattern = make_pattern(
            format_text, tuple(sizes), tuple(leaves[at:last]), index_dtype, counts
        )
        return SparseTensor(pattern, leaves[last]), last + 1
    if kind in ("tuple", "list", "slice"):
        items = []
        for part in description[1:]:
            item, at = _put_together(part, leaves, at, make_pattern)
            items.append(item)
        if kind == "list":
            return items, at
        return (tuple(items) if kind == "tuple" else slice(*items)), at
    if kind == "format":
        return Format(description[1], None if description[2] < 0 else description[2]), at
    if kind == "none":
        return None, at
    if kind == "ellipsis":
        return Ellipsis, at
    if kind == "constant":
        return description[1], at
    return leaves[at], at + 1
