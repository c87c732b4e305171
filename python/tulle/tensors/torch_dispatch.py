"""PyTorch's functions on sparse tensors: the table of handlers, and what happens without one.

`tulle.operators.torch_functions` fills the table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.support.errors import Unsupported

Handler = Callable[..., Any]

# What computes a function of torch, by that function.
handlers: dict[Any, Handler] = {}
# The same for calls without keywords that torch.compile does not trace, where that is faster.
quick_handlers: dict[Any, Handler] = {}
# Reversed operators by name: Dynamo does not find functions of Python in a table.
reversed_handlers: dict[str, Handler] = {}


def dispatch(
    cls: type, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
) -> Any:
    """Computes `function(*args, **kwargs)`; at least one argument is a sparse tensor. This is
    `__torch_function__` of the class."""
    if not kwargs and not is_compiling():
        quick = quick_handlers.get(function)
        if quick is not None:
            return quick(*args)
    handler = None
    if is_compiling():
        handler = reversed_handlers.get(getattr(function, "__name__", ""))
    if handler is None:
        handler = handlers.get(function)
    if handler is None:
        _refuse(function)
    if not kwargs:
        return handler(*args)
    if not kwargs.keys() <= _keywords(handler):
        _refuse(function, *(kwargs.keys() - _keywords(handler)))
    return handler(*args, **kwargs)


def _refuse(function: Any, *keywords: str) -> NoReturn:
    name = getattr(function, "__name__", str(function))
    if keywords:
        raise Unsupported(f"torch's {name} does not take {keywords[0]}= on sparse tensors.")
    raise Unsupported(
        f"torch's {name} is not supported on sparse tensors. Express it with tulle.compute or "
        "tulle.einsum, or convert with to_dense() or to_torch()."
    )


@cache
def _keywords(handler: Handler) -> frozenset[str]:
    return frozenset(inspect.signature(handler).parameters)


# Methods of torch.Tensor that sparse tensors have under another name.
_INSTEAD = {"max": "amax(1), or A.argmax(1)", "min": "amin(1), or A.argmin(1)"}


def missing_attribute(name: str) -> str:
    """The error message for an attribute that a sparse tensor does not have."""
    missing = f"A sparse tensor has no attribute '{name}'"
    if name.startswith("_") or not hasattr(Tensor, name):
        return f"{missing}."
    handler = handlers.get(getattr(torch, name, None))
    if handler is not None:
        return f"{missing}; write torch.{name}({', '.join(_required_arguments(handler))})."
    if instead := _INSTEAD.get(name):
        return f"{missing}; write A.{instead}."
    return f"{missing} like torch's tensors; convert with to_dense() or to_torch()."


def _required_arguments(handler: Handler) -> list[str]:
    """The arguments of a call as a user writes them: A, then the parameters without a default."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        parameter.name
        for parameter in inspect.signature(handler).parameters.values()
        if parameter.default is inspect.Parameter.empty and parameter.kind in kinds
    ]
    return ["A", *needed[1:]]
