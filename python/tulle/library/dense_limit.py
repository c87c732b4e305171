"""The limit on the memory of dense results."""

from __future__ import annotations

from tulle.library import bindings
from tulle.support.errors import UserError


def set_dense_limit(limit: int | None) -> None:
    """Sets the largest size of a dense result in bytes. A larger result raises UserError before
    memory is allocated.

    None restores the default: half of the free memory on the CPU, no limit on a GPU.
    """
    if limit is not None and (not isinstance(limit, int) or limit < 0):
        raise UserError(f"set_dense_limit: expected a number of bytes or None, found {limit!r}.")
    bindings.set_dense_limit(-1 if limit is None else limit)
