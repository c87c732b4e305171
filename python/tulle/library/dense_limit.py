"""Limits that a user can set."""

from __future__ import annotations

from tulle.library import bindings
from tulle.support.errors import UserError


def set_dense_limit(limit: int | None) -> None:
    """The most bytes that a dense result may take; larger ones are refused before they are made.
    None is the default: half of the memory that is free at the time, and no limit on a GPU."""
    if limit is not None and (not isinstance(limit, int) or limit < 0):
        raise UserError(f"set_dense_limit: expected a number of bytes or None, found {limit!r}.")
    bindings.set_dense_limit(-1 if limit is None else limit)
