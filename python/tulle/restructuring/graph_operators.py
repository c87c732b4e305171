"""Functions of structure that graphs of torch.compile hold as one operator each.

Such a function reads the contents of structure arrays, which a tracer cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias

import torch
from torch import Tensor

from tulle.programs.graph_calls import is_traced
from tulle.restructuring.packing import Packed, packed, unpacked

# From text, None, numbers, tensors and tuples of these to tensors.
Function: TypeAlias = Callable[..., list[Tensor]]

# The functions by name, each with the one for tensors without memory.
_functions: dict[str, tuple[Function, Function]] = {}


def graph_operator(without_memory: Function) -> Callable[[Function], Function]:
    """Makes the function an operator in graphs. `without_memory` gives tensors of the same types
    and sizes. The results share no memory with the arguments."""

    def decorate(function: Function) -> Function:
        name = function.__name__.strip("_")
        _functions[name] = (function, without_memory)

        @wraps(function)
        def call(*args: Any) -> list[Tensor]:
            parts = packed((name, *args))
            if is_traced(parts.tensors):
                return _operator(parts.text, parts.sizes, parts.tensors)
            return function(*args)

        return call

    return decorate


@torch.library.custom_op("tulle_python::read_structure", mutates_args=())
def _operator(text: str, sizes: Sequence[int], tensors: Sequence[Tensor]) -> list[Tensor]:
    name, *args = unpacked(Packed(text, list(sizes), list(tensors)))
    return _functions[name][0](*args)


@_operator.register_fake
def _(text: str, sizes: Sequence[int], tensors: Sequence[Tensor]) -> list[Tensor]:
    name, *args = unpacked(Packed(text, list(sizes), list(tensors)))
    return _functions[name][1](*args)
