"""The entries of a sparse tensor: duplicates, stored zeros, other values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tulle.support.errors import UserError
from tulle.tensors.entry_lists import from_entries
from tulle.tensors.matching import keys_of
from tulle.tensors.pattern import Pattern
from tulle.tensors.stored_tensor import StoredTensor

if TYPE_CHECKING:
    from typing_extensions import Self


class EntryMethods(StoredTensor):
    """`coalesce`, `prune`, `copy_`."""

    __slots__ = ()

    def is_coalesced(self) -> bool:
        """Whether no coordinate is stored several times. Formats without `nonunique` levels never
        store one several times."""
        if (
            "nonunique" not in self._pattern._format_text
        ):  # as in the text of all formats with names
            return True
        derived = self._pattern.derived
        if "is coalesced" not in derived:
            coordinates = self.coordinates()
            distinct = torch.unique(coordinates, dim=1)
            derived["is coalesced"] = distinct.shape[1] == coordinates.shape[1]
        known: bool = derived["is coalesced"]
        return known

    def coalesce(self) -> Self:
        """The tensor with each coordinate once: the sum of its values. A tensor with distinct
        coordinates is returned as it is, else the result has the format coo."""
        if self.is_coalesced():
            return self
        coordinates, values = self.entries()
        shape, index = self._pattern.shape, self.index_dtype
        return from_entries(type(self), "coo", shape, coordinates, values, index)

    def prune(self, threshold: float = 0.0) -> Self:
        """The tensor without the entries whose absolute value is at most `threshold`, in the same
        format. By default it drops the stored zeros; NaN is kept. Formats that hold whole blocks,
        diagonals or rows keep those with a remaining entry, and pad them with zeros."""
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or threshold < 0:
            raise UserError(
                f"prune: the threshold is a number from 0 on, but found {threshold!r}; "
                "prune() drops the stored zeros."
            )
        coordinates, values = self.coalesce().entries()
        seen = values.detach()
        is_small = seen == 0 if threshold == 0 or seen.dtype == torch.bool else None
        kept = ~(seen.abs() <= threshold if is_small is None else is_small)
        where = kept.nonzero()[:, 0]
        coordinates, shape = coordinates.index_select(1, where), self._pattern.shape
        keys = keys_of(coordinates, shape)
        return from_entries(
            type(self),
            self.format,
            shape,
            coordinates,
            values.index_select(0, where),
            self.index_dtype,
            is_sorted=bool((keys[1:] > keys[:-1]).all()),
        )

    def copy_(self, source: Any, non_blocking: bool = False) -> Self:
        """Takes over the values of another sparse tensor of the same shape, converted to the type
        and the device of this one. If the entries differ, it also takes over their coordinates,
        converted to the format of this tensor."""
        if not isinstance(source, StoredTensor) or source.shape != self.shape:
            given = getattr(source, "shape", None)
            found = f"the shape {list(given)}" if given is not None else f"{source!r}"
            raise UserError(
                f"copy_: expected a sparse tensor of the shape {list(self.shape)}, but found "
                f"{type(source).__name__} of {found}."
            )
        other: Any = source
        if other._pattern is not self._pattern:
            other = other.to(format=self.format).to(device=self.device)
        if _is_same(other._pattern, self._pattern):
            self._values.copy_(other._values, non_blocking=non_blocking)
            return self
        if self._values.requires_grad:
            raise UserError(
                "copy_: the entries differ, and this tensor requires a gradient, which belongs to "
                "its own entries. Copy to its detach(), or use the other tensor in its place."
            )
        self._pattern = other._pattern
        self._values = other._values.to(self.dtype, copy=True)
        return self


def _is_same(one: Pattern, other: Pattern) -> bool:
    """Whether two patterns of one shape and format hold the same slots."""
    if one is other:
        return True
    same = one.numbers == other.numbers and len(one.arrays) == len(other.arrays)
    return same and all(map(_is_equal, one.arrays, other.arrays))


def _is_equal(one: Tensor, other: Tensor) -> bool:
    return one is other or (one.device == other.device and torch.equal(one, other.to(one.dtype)))
