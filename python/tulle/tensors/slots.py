"""The slots of a storage: how many there are, which coordinate each holds, and which are entries.

Blocks need not divide the size of a dimension, and a diagonal is stored with the length of the
first dimension. The slots beyond the end of a dimension are padding and no entries of the tensor;
neither are the slots that a format leaves unused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from tulle.tensors.formats import Format, Level

SLOTS_AT_ONCE = 1 << 20  # bounds the memory for coordinates while entries are counted


class Structure(Protocol):
    """The attributes of a pattern, not composite, that the functions of this file read."""

    @property
    def format(self) -> Format: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def arrays(self) -> tuple[Tensor, ...]: ...


def has_padding(structure: Structure) -> bool:
    """Whether there may be slots that are no entries."""
    return any(
        level.unused
        or level.bits
        or level.part == "d"
        or (level.part == "q" and structure.shape[level.dimension] % level.divisor)
        for level in structure.format.levels
    )


def count(structure: Structure) -> int:
    """The number of slots, which is the number of values of a tensor."""
    arrays = iter(structure.arrays)
    slots = 1
    for level in structure.format.levels:
        stored = {name: next(arrays) for name in level.arrays}
        if level.direct:
            slots *= level.extent(structure.shape[level.dimension])
        elif level.crd:
            slots = stored["crd"].numel()
        elif level.pos:
            slots = int(stored["pos"][-1]) if stored["pos"].numel() else 0
        elif level.width:
            slots *= level.width
    return slots


def coordinates_at(structure: Structure, slots: Tensor) -> tuple[Tensor, Tensor]:
    """The coordinates at these slots, [rank, n], padding included, and whether each slot is an
    entry."""
    levels = structure.format.levels
    found = _level_coordinates(levels, structure, slots)
    rank = len(structure.shape)
    result = torch.zeros(rank, slots.numel(), dtype=torch.int64, device=slots.device)
    for level, coordinates in found.levels:
        scaled = coordinates * level.divisor if level.part == "q" else coordinates
        result[level.dimension] += scaled
    for level in levels:
        if level.part == "d":
            result[level.dimension] += result[level.second]
    if not has_padding(structure):
        return result, torch.ones_like(slots, dtype=torch.bool)
    shape = torch.tensor(structure.shape, device=slots.device)[:, None]
    inside = ((result >= 0) & (result < shape)).all(0)
    return result, inside if found.used is None else inside & found.used


class _LevelCoordinates(NamedTuple):
    levels: list[tuple[Level, Tensor]]  # innermost first: the coordinate of each slot in the level
    used: Tensor | None  # which slots hold an entry; None if the levels leave no slot unused


def _level_coordinates(
    levels: Sequence[Level], structure: Structure, slots: Tensor
) -> _LevelCoordinates:
    """The coordinates of these slots in the first levels of the structure. All arrays of the
    structure belong to these levels."""
    arrays = list(structure.arrays)
    found: list[tuple[Level, Tensor]] = []
    used: Tensor | None = None
    for at, level in reversed(list(enumerate(levels))):
        held: Tensor | None = None
        if level.direct:
            if level.bits:
                held = arrays.pop().index_select(0, slots)
            extent = level.extent(structure.shape[level.dimension])
            # The outermost level has one slot for each coordinate.
            coordinates, slots = (slots % extent, slots // extent) if at else (slots, slots)
        elif level.crd:
            coordinates = arrays.pop().index_select(0, slots).to(torch.int64)
            held = coordinates >= 0 if level.unused else None
            if level.pos:
                slots = _parents(arrays.pop(), slots)
            elif level.width:
                slots = slots // level.width
        else:
            pos = arrays.pop()
            parents = _parents(pos, slots)
            coordinates, slots = slots - pos.index_select(0, parents), parents
        if held is not None:
            used = held if used is None else used & held
        found.append((level, coordinates))
    return _LevelCoordinates(found, used)


def _parents(pos: Tensor, slots: Tensor) -> Tensor:
    """The slots of the level above to which these slots of a level with positions belong."""
    count, rows = slots.numel(), pos.numel()
    # In graphs, where sizes may be unknown, results should not add further unknown sizes.
    if isinstance(count, torch.SymInt) or isinstance(rows, torch.SymInt) or count < rows:
        return torch.searchsorted(pos, slots, right=True) - 1
    return torch.repeat_interleave(pos.diff()).index_select(0, slots)


# ---- counting entries ----------------------------------------------------------------------------


def count_entries(structure: Structure, slots: int) -> int:
    """The number of entries; `slots` is the number of all slots of the structure."""
    if not structure.arrays:
        return math.prod(structure.shape)
    levels = structure.format.levels
    if any(level.part == "d" for level in levels):
        pieces = _pieces(slots, structure.arrays[-1].device)
        return sum(int(coordinates_at(structure, piece)[1].sum()) for piece in pieces)
    return _count_above_dense_levels(levels, structure, slots)


def _pieces(slots: int, device: torch.device) -> Iterator[Tensor]:
    for first in range(0, slots, SLOTS_AT_ONCE):
        yield torch.arange(first, min(first + SLOTS_AT_ONCE, slots), device=device)


def _count_above_dense_levels(levels: Sequence[Level], structure: Structure, all_slots: int) -> int:
    """Looks at the slots of the last level that is not full. Each of them stands for all slots of
    the dense levels below it that are inside the shape."""
    sparse = max(at for at, level in enumerate(levels) if not level.full) + 1
    below = math.prod(level.extent(structure.shape[level.dimension]) for level in levels[sparse:])
    slots = torch.arange(all_slots // below if below else 0, device=structure.arrays[-1].device)
    counts = torch.ones_like(slots)
    found = _level_coordinates(levels[:sparse], structure, slots)
    for dimension, size in enumerate(structure.shape):
        first = torch.zeros_like(slots)  # the first coordinate that a slot stands for
        extent = size  # the number of coordinates, up to the end of the dimension
        for level, coordinates in found.levels:
            if level.dimension == dimension:
                divisor = level.divisor if level.part == "q" else 1
                first += coordinates * divisor
                extent = min(extent, divisor)
        counts *= (size - first).clamp(min=0, max=extent)
    return int(counts.sum() if found.used is None else counts[found.used].sum())
