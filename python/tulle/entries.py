"""The entries of a sparse tensor: where its storage keeps which coordinate.

Blocks need not divide the size of a dimension. What they store beyond its end is padding and no
entry of the tensor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from tulle.formats import Level
from tulle.pattern import Pattern
from tulle.sparse_tensor import SparseTensor


def is_padded(pattern: Pattern) -> bool:
    """Whether blocks can reach beyond the end of a dimension."""
    return any(
        level.part == "q" and pattern.shape[level.dimension] % level.divisor
        for level in pattern.format.levels
    )


def _owners(pos: Tensor, slots: Tensor) -> Tensor:
    """The slots of the level above that these slots of a compressed level belong to."""
    if slots.numel() < pos.numel():
        return torch.searchsorted(pos, slots, right=True) - 1
    return torch.repeat_interleave(pos.diff())[slots]


def _level_coordinates(
    levels: Sequence[Level], pattern: Pattern, slots: Tensor
) -> list[tuple[Level, Tensor]]:
    """Of each of the first `levels`, innermost first, its coordinates at these slots of the last of
    them. All arrays of the pattern belong to these levels."""
    arrays = list(pattern.arrays)
    found: list[tuple[Level, Tensor]] = []
    for level in reversed(levels):
        if level.crd:
            here = arrays.pop()[slots].to(torch.int64)
            slots = _owners(arrays.pop(), slots) if level.pos else slots
        else:
            extent = level.extent(pattern.shape[level.dimension])
            here, slots = slots % extent, slots // extent
        found.append((level, here))
    return found


def coordinates_at(pattern: Pattern, slots: Tensor) -> Tensor:
    """[rank, n]: what is stored at these places, padding included."""
    result = torch.zeros(len(pattern.shape), slots.numel(), dtype=torch.int64, device=slots.device)
    for level, here in _level_coordinates(pattern.format.levels, pattern, slots):
        result[level.dimension] += here * level.divisor if level.part == "q" else here
    return result


def _are_inside(pattern: Pattern, coordinates: Tensor) -> Tensor:
    return (coordinates < torch.tensor(pattern.shape, device=coordinates.device)[:, None]).all(0)


def entries(source: SparseTensor) -> tuple[Tensor, Tensor]:
    """Coordinates, [rank, nnz], and values, [nnz], in storage order."""
    pattern, values = source.pattern, source.values()
    coordinates = coordinates_at(pattern, torch.arange(values.numel(), device=values.device))
    if not is_padded(pattern):
        return coordinates, values
    inside = _are_inside(pattern, coordinates)
    return coordinates[:, inside], values[inside]


def count(pattern: Pattern, stored: int) -> int:
    """How many of the stored values are entries. Counted once for a pattern with padding."""
    if not is_padded(pattern):
        return stored
    if pattern.entry_count is None:
        pattern.entry_count = _counted(pattern)
    return pattern.entry_count


def _counted(pattern: Pattern) -> int:
    """The sum over the slots of the last level with coordinates, of which each stands for as many
    entries as the dense levels below it have in the shape."""
    if not pattern.arrays:
        return math.prod(pattern.shape)
    levels = pattern.format.levels
    sparse = max(at for at, level in enumerate(levels) if level.crd) + 1
    last = pattern.arrays[-1]
    slots = torch.arange(last.numel(), device=last.device)
    counts = torch.ones_like(slots)
    above = _level_coordinates(levels[:sparse], pattern, slots)
    for dimension, size in enumerate(pattern.shape):
        first = torch.zeros_like(slots)  # the coordinates of each slot run from here
        extent = size  # over as many, or to the end of the dimension
        for level, here in above:
            if level.dimension == dimension:
                first += here * level.divisor if level.part == "q" else here
                extent = min(extent, level.divisor if level.part == "q" else 1)
        counts *= (size - first).clamp(min=0, max=extent)
    return int(counts.sum())


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
        inside = slots[_are_inside(pattern, coordinates_at(pattern, slots))]
        if inside.numel() >= wanted or window >= stored:
            return inside[:wanted]
        window *= 8
