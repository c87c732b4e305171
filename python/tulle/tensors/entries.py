"""The entries of a sparse tensor: where its storage keeps which coordinate.

Blocks need not divide the size of a dimension, and diagonals are stored as long as the tensor is
high. What they store beyond the end of a dimension is padding and no entry of the tensor; neither
are slots that a format leaves unused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tulle.tensors.composites import CompositePattern
from tulle.tensors.formats import Level
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


def is_padded(pattern: Pattern) -> bool:
    """Whether there may be values that belong to no entry: beyond the end of a dimension, where
    blocks or diagonals reach, or in slots that are not used."""
    return isinstance(pattern, CompositePattern) or any(
        level.unused
        or level.bits
        or level.part == "d"
        or (level.part == "q" and pattern.shape[level.dimension] % level.divisor)
        for level in pattern.format.levels
    )


def _owners(pos: Tensor, slots: Tensor) -> Tensor:
    """The slots of the level above that these slots of a level with positions belong to."""
    if slots.numel() < pos.numel():
        return torch.searchsorted(pos, slots, right=True) - 1
    return torch.repeat_interleave(pos.diff())[slots]


class _Places(NamedTuple):
    levels: list[tuple[Level, Tensor]]  # innermost first: the coordinate of each place
    used: Tensor | None  # whether there is an entry, where levels leave slots unused


def _places(levels: Sequence[Level], pattern: Pattern, slots: Tensor) -> _Places:
    """What stands at these slots of the last of the first `levels`. All arrays of the pattern
    belong to these levels."""
    arrays = list(pattern.arrays)
    found: list[tuple[Level, Tensor]] = []
    used: Tensor | None = None
    for level in reversed(levels):
        held: Tensor | None = None
        if level.direct:
            if level.bits:
                held = arrays.pop()[slots]
            extent = level.extent(pattern.shape[level.dimension])
            here, slots = slots % extent, slots // extent
        elif level.crd:
            here = arrays.pop()[slots].to(torch.int64)
            held = here >= 0 if level.unused else None
            if level.pos:
                slots = _owners(arrays.pop(), slots)
            elif level.width:
                slots = slots // level.width
        else:
            pos = arrays.pop()
            owners = _owners(pos, slots)
            here, slots = slots - pos[owners], owners
        if held is not None:
            used = held if used is None else used & held
        found.append((level, here))
    return _Places(found, used)


def coordinates_at(pattern: Pattern, slots: Tensor) -> Tensor:
    """[rank, n]: what is stored at these places, padding included."""
    return _found_at(pattern, slots)[0]


def _found_at(pattern: Pattern, slots: Tensor) -> tuple[Tensor, Tensor]:
    """The coordinates at these places, and whether there is an entry of the tensor."""
    if isinstance(pattern, CompositePattern):
        return _found_in_parts(pattern, slots)
    places = _places(pattern.format.levels, pattern, slots)
    result = torch.zeros(len(pattern.shape), slots.numel(), dtype=torch.int64, device=slots.device)
    for level, here in places.levels:
        result[level.dimension] += here * level.divisor if level.part == "q" else here
    for level in pattern.format.levels:
        if level.part == "d":
            result[level.dimension] += result[level.second]
    shape = torch.tensor(pattern.shape, device=slots.device)[:, None]
    inside = ((result >= 0) & (result < shape)).all(0)
    return result, inside if places.used is None else inside & places.used


def _found_in_parts(pattern: CompositePattern, slots: Tensor) -> tuple[Tensor, Tensor]:
    result = torch.zeros(len(pattern.shape), slots.numel(), dtype=torch.int64, device=slots.device)
    held = torch.zeros(slots.numel(), dtype=torch.bool, device=slots.device)
    for part, offset, count in zip(pattern.parts, pattern.offsets, pattern.counts, strict=True):
        here = ((slots >= offset) & (slots < offset + count)).nonzero()[:, 0]
        result[:, here], held[here] = _found_at(part, slots[here] - offset)
    return result, held


def entries(source: SparseTensor) -> tuple[Tensor, Tensor]:
    """Coordinates, [rank, nnz], and values, [nnz], in storage order."""
    pattern, values = source.pattern, source.values()
    coordinates, held = _found_at(pattern, torch.arange(values.numel(), device=values.device))
    if not is_padded(pattern):
        return coordinates, values
    return coordinates[:, held], values[held]


def count(pattern: Pattern, stored: int) -> int:
    """How many of the stored values are entries. Counted once for a pattern with padding."""
    if not is_padded(pattern):
        return stored
    if pattern.entry_count is None and isinstance(pattern, CompositePattern):
        pattern.entry_count = sum(map(count, pattern.parts, pattern.counts))
    if pattern.entry_count is None:
        pattern.entry_count = _counted(pattern, stored)
    return pattern.entry_count


def stored(pattern: Pattern) -> int:
    """How many values a tensor of that pattern stores, which is no composite one."""
    arrays = iter(pattern.arrays)
    slots = 1
    for level in pattern.format.levels:
        held = {name: next(arrays) for name in level.arrays}
        if level.direct:
            slots *= level.extent(pattern.shape[level.dimension])
        elif level.pos:
            slots = int(held["pos"][-1])
        elif level.width:
            slots *= level.width
    return slots


def _counted(pattern: Pattern, stored: int) -> int:
    """The sum over the slots of the last level that is not full, of which each stands for as many
    entries as the dense levels below it have in the shape."""
    if not pattern.arrays:
        return math.prod(pattern.shape)
    levels = pattern.format.levels
    if any(level.part == "d" for level in levels):
        return sum(_counted_among(pattern, piece) for piece in _pieces(pattern, stored))
    sparse = max(at for at, level in enumerate(levels) if not level.full) + 1
    below = math.prod(level.extent(pattern.shape[level.dimension]) for level in levels[sparse:])
    slots = torch.arange(stored // below if below else 0, device=pattern.arrays[-1].device)
    counts = torch.ones_like(slots)
    places = _places(levels[:sparse], pattern, slots)
    for dimension, size in enumerate(pattern.shape):
        first = torch.zeros_like(slots)  # the coordinates of each slot run from here
        extent = size  # over as many, or to the end of the dimension
        for level, here in places.levels:
            if level.dimension == dimension:
                first += here * level.divisor if level.part == "q" else here
                extent = min(extent, level.divisor if level.part == "q" else 1)
        counts *= (size - first).clamp(min=0, max=extent)
    return int(counts.sum() if places.used is None else counts[places.used].sum())


def _pieces(pattern: Pattern, stored: int) -> Iterator[Tensor]:
    """All slots, so many at a time that what is computed of them takes little memory."""
    length = 1 << 20
    for first in range(0, stored, length):
        yield torch.arange(first, min(first + length, stored), device=pattern.arrays[-1].device)


def _counted_among(pattern: Pattern, slots: Tensor) -> int:
    return int(_found_at(pattern, slots)[1].sum())


def ends(source: SparseTensor, shown: int) -> tuple[Tensor, Tensor]:
    """Where the storage has the first and the last entries, `shown` of each; all of them and none
    where there are not more. Looks at no more of the storage than that takes."""
    if source.nnz <= 2 * shown:
        slots = _found_from(source, 2 * shown, 1)
        return slots, slots[:0]
    return _found_from(source, shown, 1), _found_from(source, shown, -1).flip(0)


def _found_from(source: SparseTensor, wanted: int, direction: int) -> Tensor:
    """The first entries from the front (1) or from the back (-1)."""
    pattern, stored = source.pattern, source.values().numel()
    window = wanted
    while True:
        slots = torch.arange(min(window, stored), device=source.device)
        slots = slots if direction == 1 else stored - 1 - slots
        inside = slots[_found_at(pattern, slots)[1]]
        if inside.numel() >= wanted or window >= stored:
            return inside[:wanted]
        window *= 8
