"""Entries as coordinates: what changes of structure read and write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tulle.restructuring.level_storage import (
    level_arrays,
    level_order,
    order_of,
    stored_order,
)
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


class Source(NamedTuple):
    """The structure of an operand. Its values follow those of the operands before it."""

    pattern: Pattern
    first: int  # the number of values of the operands before it
    value_count: int
    device: torch.device

    def entries(self, places: Tensor | None = None) -> Entries:
        """The entries, or those at some slots."""
        if places is None:
            rows = _all_coordinates(self.pattern)
            places = torch.arange(self.value_count, device=self.device)
            if rows is not None:
                numbers = places + self.first if self.first else places
                return Entries(rows, numbers, stored_order(self.pattern.format))
        coordinates, held = self.pattern.coordinates_at(places)
        if self.pattern.has_padding:
            kept = held.nonzero()[:, 0]
            coordinates, places = coordinates[:, kept], places[kept]
        return Entries(coordinates, places + self.first)


class Entries(NamedTuple):
    """Entries of a result: each has a value of the operands."""

    coordinates: Tensor  # [rank, n]
    numbers: Tensor  # [n]: the number of the value among the values of all operands
    # The dimensions in whose lexicographic order the entries are known to be sorted.
    order: tuple[int, ...] | None = None

    def at(self, places: Tensor) -> Entries:
        """The entries at these places."""
        rows = [row.index_select(0, places) for row in self.coordinates]
        return Entries(torch.stack(rows), self.numbers.index_select(0, places))

    def where(self, chosen: Tensor) -> Entries:
        """The entries where `chosen` is true."""
        return self.at(chosen.nonzero()[:, 0])._replace(order=self.order)

    def placed(self, places: Tensor, order: tuple[int, ...]) -> Entries:
        """The entries at other places, which are a permutation and have this order."""
        own = torch.arange(places.numel(), device=places.device)
        return self.at(torch.empty_like(own).scatter_(0, places, own))._replace(order=order)

    def runs(self) -> list[tuple[Tensor, Tensor]] | None:
        """For each number of dimensions, taken in `order`: the runs of entries that agree in them.
        The first place of the run of each entry, and the length of the run. None without order."""
        if self.order is None:
            return None
        count, device = self.numbers.numel(), self.numbers.device
        own = torch.arange(count, device=device)
        found = [(torch.zeros_like(own), torch.full_like(own, count))]
        starts = torch.zeros(count, dtype=torch.bool, device=device)
        starts[:1] = True
        for d in self.order[:-1]:
            row = self.coordinates[d]
            starts[1:] |= row[1:] != row[:-1]
            first = starts.nonzero()[:, 0]
            lengths = torch.cat([first, first.new_tensor([count])]).diff()
            runs = torch.repeat_interleave(lengths)
            found.append((first.index_select(0, runs), lengths.index_select(0, runs)))
        return [*found, (own, torch.ones_like(own))]


def _all_coordinates(pattern: Pattern) -> Tensor | None:
    """The coordinates of all slots of a storage in which each slot is an entry: whole dimensions,
    dense levels above sparse ones. None for any other storage."""
    levels = pattern.format.levels
    sparse = [level.crd for level in levels]
    if not all(level.part == "w" and not level.unused for level in levels) or not any(sparse):
        return None
    first = sparse.index(True)
    if not all(sparse[first:]) or not all(level.full for level in levels[:first]):
        return None
    arrays = iter(pattern.arrays)
    rows: dict[int, Tensor] = {}
    device = pattern.arrays[0].device
    for level in levels:
        if level.direct:
            extent = level.extent(pattern.shape[level.dimension])
            count = next(iter(rows.values())).numel() if rows else 1
            rows = {d: row.repeat_interleave(extent) for d, row in rows.items()}
            rows[level.dimension] = torch.arange(extent, device=device).repeat(count)
            continue
        if level.pos:
            lengths = next(arrays).diff()
            rows = {d: row.repeat_interleave(lengths) for d, row in rows.items()}
        rows[level.dimension] = next(arrays)
    return torch.stack([rows[d].to(torch.int64) for d in range(len(rows))])


class Storage(NamedTuple):
    """The storage of a result: its structure arrays, and for each slot the number of its value. A
    slot without an entry has the number -1, or the number of any value."""

    arrays: tuple[Tensor, ...]
    numbers: Tensor


def may_pad(format: Format) -> bool:
    """Whether slots of results may hold no entry: unused slots, and those of dense levels below
    sparse levels."""
    levels = format.levels
    sparse = [at for at, level in enumerate(levels) if level.crd]
    is_stored_by_entry = bool(sparse) and all(
        (level.crd and not level.unused) if at >= sparse[0] else level.full
        for at, level in enumerate(levels)
    )
    return not is_stored_by_entry


def stored(
    entries: Entries, format: Format, shape: tuple[int, ...], index_dtype: torch.dtype
) -> Storage:
    """The storage of entries, each at a coordinate of its own, in a format."""
    order = level_order(format)
    if order is not None:
        entries = _sorted(entries, shape, order)
        arrays = level_arrays(entries.coordinates, format, shape, index_dtype)
        return Storage(arrays, entries.numbers)
    rank = len(shape)
    coordinates, numbers, _ = _sorted(entries, shape, range(rank))
    coo = Format("coo", rank)
    arrays = level_arrays(coordinates, coo, shape, index_dtype)
    # The conversion moves the numbers of the values in place of the values. If there may be slots
    # without an entry, which get a 0, it counts from 1.
    is_padded = may_pad(format)
    listed = numbers + 1 if is_padded else numbers
    source = SparseTensor(Pattern._of_valid(coo, shape, arrays, index_dtype), listed)
    converted: SparseTensor = source.to(format=format)
    found = converted.values()
    if is_padded:
        # An unused slot may have any number.
        largest = int(listed.max()) if listed.numel() else 0
        found = found.clamp(min=0, max=largest) - 1
    return Storage(converted.pattern.arrays, found)


def _sorted(entries: Entries, shape: tuple[int, ...], order: Sequence[int]) -> Entries:
    """The entries in the lexicographic order of these dimensions."""
    if entries.order == tuple(order):
        return entries
    places = order_of(entries.coordinates, shape, order)
    return entries if places is None else entries.at(places)


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
