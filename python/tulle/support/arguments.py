"""Checks what callers pass: text, shapes, dimensions. What is wrong is a UserError that says how it
should be."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from tulle.support.errors import UserError


def check_text(caller: str, value: object, example: str) -> None:
    """Refuses what is not text where a program is expected."""
    if isinstance(value, str):
        return
    from tulle.notation.kernels import Kernel  # which checks its own arguments here

    instead = value.instead_of(caller) if isinstance(value, Kernel) else ""
    raise UserError(
        f"{caller}: expected text first, {example!r} for instance, but found "
        f"{type(value).__name__}{instead}."
    )


def shape_of(caller: str, value: Any) -> tuple[int, ...]:
    """Sizes as whole numbers."""
    try:
        sizes = tuple(operator.index(size) for size in value)
    except TypeError:
        raise UserError(
            f"{caller}: expected a shape, (3, 4) for instance, but found {value!r}."
        ) from None
    if any(size < 0 for size in sizes):
        raise UserError(f"{caller}: sizes are not negative, but found {sizes}.")
    return sizes


def dimension_of(caller: str, dim: Any, rank: int) -> int:
    """A dimension counted from the front."""
    if not isinstance(dim, int):
        raise UserError(f"{caller}: dimensions are whole numbers, but found {dim!r}.")
    if not -rank <= dim < rank:
        raise UserError(f"{caller}: there is no dimension {dim}: the tensor has rank {rank}.")
    return dim % rank


def flat_dimensions(given: Sequence[Any]) -> tuple[Any, ...]:
    """permute(1, 0) and permute((1, 0)) alike."""
    if len(given) == 1 and isinstance(given[0], Sequence):
        return tuple(given[0])
    return tuple(given)
