"""Checks of what callers pass: text, shapes and dimensions. Each raises a UserError that says what
was expected."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch

from tulle.support.errors import UserError


@runtime_checkable
class SuggestsInstead(Protocol):
    """An object that users pass by mistake where text is expected. It can name the right call.
    `tulle.Kernel` is one."""

    def instead_of(self, caller: str) -> str:
        """The end of the error message, "; write kernel(A=A)" for instance; may be empty."""


def check_text(caller: str, value: object, example: str) -> None:
    """Raises UserError if a program is not text; `example` shows a valid one."""
    if isinstance(value, str):
        return
    instead = value.instead_of(caller) if isinstance(value, SuggestsInstead) else ""
    raise UserError(
        f"{caller}: expected text first, {example!r} for instance, but found "
        f"{type(value).__name__}{instead}."
    )


def shape_of(caller: str, value: Any) -> tuple[int, ...]:
    """The shape as a tuple of non-negative integers."""
    try:
        sizes = tuple(
            size if isinstance(size, torch.SymInt) else operator.index(size) for size in value
        )
    except TypeError:
        raise UserError(
            f"{caller}: expected a shape, (3, 4) for instance, but found {value!r}."
        ) from None
    if any(size < 0 for size in sizes):
        raise UserError(f"{caller}: sizes must not be negative, but found {sizes}.")
    return sizes


def dimension_of(caller: str, dim: Any, rank: int) -> int:
    """The dimension counted from the front; `dim` may be negative."""
    if not isinstance(dim, int):
        raise UserError(f"{caller}: a dimension must be an integer, but found {dim!r}.")
    if not -rank <= dim < rank:
        raise UserError(f"{caller}: there is no dimension {dim}: the tensor has rank {rank}.")
    return dim % rank


def flat_dimensions(given: Sequence[Any], named: Any = None) -> tuple[Any, ...]:
    """The dimensions of permute(1, 0), of permute((1, 0)) and of permute(dims=(1, 0)), whose
    keyword is `named`."""
    if named is not None and not given:
        given = (named,)
    if len(given) == 1 and isinstance(given[0], Sequence):
        return tuple(given[0])
    return tuple(given)


def check_product(caller: str, left: Sequence[Any], right: Sequence[Any]) -> None:
    """Raises UserError if operands of these shapes have no product as in torch.matmul. Sizes that a
    graph does not know are not compared."""
    counted, at = left[-1], max(0, len(right) - 2)
    if type(counted) is int and type(right[at]) is int and counted != right[at]:
        raise UserError(
            f"{caller}: the shapes {list(left)} and {list(right)} do not fit: the last dimension "
            f"of the left operand has the size {counted}, but dimension {at} of the right one has "
            f"the size {right[at]}; they must be equal."
        )


def check_ranks(caller: str, left: Any, left_rank: int, right: Any, right_rank: int) -> None:
    """Raises UserError if the operands of a product have other ranks."""
    if left.ndim != left_rank or right.ndim != right_rank:
        raise UserError(
            f"{caller}: expected operands of rank {left_rank} and {right_rank}, but found "
            f"{left.ndim} and {right.ndim}; '@' multiplies tensors of other ranks."
        )


def common_shape(caller: str, shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The shape to which all of these shapes are broadcast, as in torch."""
    result = [1] * max(map(len, shapes))
    for shape in shapes:
        for back, size in enumerate(reversed(shape), 1):
            if result[-back] == 1:
                result[-back] = size
            elif size not in (1, result[-back]):
                given = ", ".join(str(list(one)) for one in shapes)
                raise UserError(
                    f"{caller}: the shapes {given} do not fit: dimensions, counted from the last, "
                    "must be equal or 1."
                )
    return tuple(result)
