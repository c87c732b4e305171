"""Arguments of changes of structure as text, sizes and tensors, which graphs of torch.compile can
hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import SymInt, Tensor


class Packed(NamedTuple):
    """A value in three parts."""

    text: str
    sizes: list[int]
    tensors: list[Tensor]


def packed(value: Any) -> Packed:
    """The value, which consists of text, None, numbers, tensors and tuples, in three parts."""
    sizes: list[int] = []
    tensors: list[Tensor] = []
    return Packed(repr(_take_apart(value, sizes, tensors)), sizes, tensors)


def unpacked(found: Packed) -> Any:
    """The value of these parts."""
    return _put_together(ast.literal_eval(found.text), iter(found.sizes), iter(found.tensors))


def _take_apart(value: Any, sizes: list[int], tensors: list[Tensor]) -> Any:
    if isinstance(value, tuple):
        return tuple(_take_apart(item, sizes, tensors) for item in value)
    if isinstance(value, Tensor):
        tensors.append(value)
        return 1
    if isinstance(value, SymInt) or type(value) is int:
        sizes.append(value)
        return 0
    return value


def _put_together(description: Any, sizes: Iterator[int], tensors: Iterator[Tensor]) -> Any:
    if isinstance(description, tuple):
        return tuple(_put_together(item, sizes, tensors) for item in description)
    if type(description) is int:
        return next(tensors) if description else next(sizes)
    return description
