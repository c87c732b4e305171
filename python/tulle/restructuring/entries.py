"""Entries as coordinates: what changes of structure read and write."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from tulle.tensors.formats import Format
from tulle.tensors.matching import keys_of
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


class Source(NamedTuple):
    """The structure of an operand. Its values follow those of the operands before it."""

    pattern: Pattern
    first: int  # the number of values of the operands before it
    value_count: int

    def entries(self, places: Tensor | None = None) -> Entries:
        """The entries, or those at some slots."""
        if places is None:
            device = self.pattern.arrays[0].device if self.pattern.arrays else None
            places = torch.arange(self.value_count, device=device)
        coordinates, held = self.pattern.coordinates_at(places)
        if self.pattern.has_padding:
            kept = held.nonzero()[:, 0]
            coordinates, places = coordinates[:, kept], places[kept]
        return Entries(coordinates, places + self.first)


class Entries(NamedTuple):
    """Entries of a result: each has a value of the operands."""

    coordinates: Tensor  # [rank, n]
    numbers: Tensor  # [n]: the number of the value among the values of all operands

    def at(self, places: Tensor) -> Entries:
        """The entries at these places."""
        return Entries(self.coordinates[:, places], self.numbers[places])

    def where(self, chosen: Tensor) -> Entries:
        """The entries where `chosen` is true."""
        return self.at(chosen.nonzero()[:, 0])


class Storage(NamedTuple):
    """The storage of a result: its structure arrays, and for each slot the number of its value. A
    slot without an entry has the number -1, or the number of any value."""

    arrays: tuple[Tensor, ...]
    numbers: Tensor


def stored(
    entries: Entries, format: Format, shape: tuple[int, ...], index_dtype: torch.dtype
) -> Storage:
    """The storage of entries, each at a coordinate of its own, in a format."""
    coordinates, numbers = _sorted(entries, shape)
    count = numbers.numel()
    pos = torch.tensor([0, count], dtype=index_dtype, device=numbers.device)
    arrays = (pos, *(row.to(index_dtype, copy=True) for row in coordinates))
    coo = Format("coo", len(shape))
    if format == coo:
        return Storage(arrays, numbers)
    # The conversion moves the numbers of the values, counted from 1, in place of the values.
    listed = SparseTensor(
        Pattern(coo, shape, arrays, index_dtype),
        torch.arange(1, count + 1, device=numbers.device),
    )
    converted: SparseTensor = listed.to(format=format)
    places = converted.values().clamp(min=0, max=count) - 1
    numbers = torch.cat([numbers, numbers.new_full((1,), -1)])[places]
    return Storage(converted.pattern.arrays, numbers)


def _sorted(entries: Entries, shape: tuple[int, ...]) -> Entries:
    """The entries in lexicographic order."""
    keys = keys_of(entries.coordinates, shape)
    if bool((keys[1:] > keys[:-1]).all()):
        return entries
    return entries.at(keys.argsort())


def needs_merging(format: Format) -> bool:
    """Whether a tensor in this format may hold a coordinate several times."""
    if format.is_composite:
        return True
    texts = [text for text in format.counted_levels if not text.endswith(":dense")]
    return bool(texts) and "nonunique" in texts[-1]


def merged(source: SparseTensor) -> SparseTensor:
    """The tensor in a format with one part that stores each coordinate at most once."""
    if not needs_merging(source.format):
        return source
    whole: SparseTensor = source.to(format=Format("coo", source.ndim))
    return whole
