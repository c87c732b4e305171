"""The structure arrays of entries, made level by level.

The entries are sorted by the coordinates of the levels, outermost first. So each slot of a level is
a run of entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from tulle.tensors.formats import Format
from tulle.tensors.matching import keys_of


def level_order(format: Format) -> tuple[int, ...] | None:
    """The dimensions in the order of the levels if `level_arrays` makes the format: dense levels of
    whole dimensions, and below them levels that store coordinates. Else None."""
    return None if format.is_composite else _level_order(format._text, format.rank or 0)


@lru_cache(maxsize=4096)
def _level_order(text: str, rank: int) -> tuple[int, ...] | None:
    format = Format(text, rank)
    levels, texts = format.levels, format.counted_levels
    order = tuple(level.dimension for level in levels)
    sparse = [at for at, level in enumerate(levels) if level.crd]
    if sorted(order) != list(range(rank)) or not all(level.part == "w" for level in levels):
        return None
    if not sparse or sparse[-1] - sparse[0] + 1 != len(sparse) or sparse[-1] + 1 != len(levels):
        return None
    is_dense = all(level.full and level.direct for level in levels[: sparse[0]])
    is_plain = not any(levels[at].unused or levels[at].width for at in sparse)
    # A level without positions has one slot for each slot of the level above.
    is_by_entry = all("nonunique" in texts[at - 1] for at in sparse[1:] if not levels[at].pos)
    return order if is_dense and is_plain and is_by_entry and levels[sparse[0]].pos else None


def stored_order(format: Format) -> tuple[int, ...] | None:
    """`level_order` if tensors in the format store distinct entries, sorted."""
    texts = format.counted_levels
    is_sorted = "nonunique" not in texts[-1] and not any("unordered" in text for text in texts)
    return level_order(format) if is_sorted else None


def is_below_dense(format: Format, dimension: int) -> bool:
    """Whether the format has dense levels, and below them one level with ascending coordinates,
    which holds the dimension. Its positions and coordinates are the arrays."""
    if format.is_composite or stored_order(format) is None:
        return False
    innermost = format.levels[-1]
    is_only = sum(level.crd for level in format.levels) == 1
    return innermost.dimension == dimension and innermost.pos and is_only


def order_of(coordinates: Tensor, shape: Sequence[int], order: Sequence[int]) -> Tensor | None:
    """The places of the entries, sorted by the coordinates of these dimensions. None if they are
    sorted."""
    sizes = tuple(shape[d] for d in order)
    is_same = tuple(order) == tuple(range(len(order)))
    keys = keys_of(coordinates if is_same else coordinates[list(order)], sizes)
    return None if bool((keys[1:] > keys[:-1]).all()) else keys.argsort()


def level_arrays(
    coordinates: Tensor, format: Format, shape: Sequence[int], index_dtype: torch.dtype
) -> tuple[Tensor, ...]:
    """The structure arrays of distinct entries that are sorted in `level_order`."""
    levels = format.levels
    first = next(at for at, level in enumerate(levels) if level.crd)
    count = coordinates.shape[1]
    # The number of slots of the level above, and the slot of each entry.
    slot_count, slots = 1, torch.zeros_like(coordinates[0])
    for number, level in enumerate(levels[:first]):
        row, size = coordinates[level.dimension], shape[level.dimension]
        slot_count, slots = slot_count * size, slots * size + row if number else row
    arrays: list[Tensor] = []
    for at, level in enumerate(levels[first:], first):
        row = coordinates[level.dimension]
        is_run = at + 1 < len(levels) and "nonunique" not in format.counted_levels[at]
        above = slots
        if is_run:
            starts = torch.ones(count, dtype=torch.bool, device=row.device)
            starts[1:] = (row[1:] != row[:-1]) | (slots[1:] != slots[:-1])
            places = starts.nonzero()[:, 0]
            row, above = row[places], slots[places]
        if level.pos:
            arrays.append(positions(above, slot_count, index_dtype))
        arrays.append(row.to(index_dtype, copy=True))
        if at + 1 < len(levels):
            slot_count = row.numel()
            slots = starts.cumsum(0) - 1 if is_run else torch.arange(count, device=row.device)
    return tuple(arrays)


def positions(slots: Tensor, slot_count: int, index_dtype: torch.dtype) -> Tensor:
    """Where the entries of each slot begin; one number more than slots."""
    if slot_count == 1:
        return torch.tensor([0, slots.numel()], dtype=index_dtype, device=slots.device)
    ends = torch.bincount(slots, minlength=slot_count).cumsum(0)
    return torch.cat([ends.new_zeros(1), ends]).to(index_dtype)
