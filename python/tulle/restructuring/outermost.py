"""Selections along the outermost level of the storage, at the cost of what they select.

The outermost level leads to the slots in a range of its dimension. If no other dimension is
indexed and the result has the same levels, these are copied for the slots. The coordinates of the
innermost level tell which slots remain before the other coordinates are computed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch
from torch import Tensor

from tulle.restructuring.entries import Source, Storage
from tulle.restructuring.selections import NEW, PICKED, Range, Selection
from tulle.tensors.formats import Format, Level

# A table of all coordinates costs less than a search for each entry up to this many coordinates for
# each entry.
_SIZE_PER_LOOKUP = 64


def outermost_selected(source: Source, selection: Selection, format: Format) -> Storage | None:
    """The storage of the result if it has the levels of the operand. None if the result has other
    levels, or if other dimensions are indexed."""
    pattern = source.pattern
    if not pattern.format.levels or not _keeps_levels(source, selection, format):
        return None
    outermost, *below = pattern.format.levels
    arrays = list(pattern.arrays)
    chosen = selection.selectors[outermost.dimension]
    own: list[Tensor] = []
    if outermost.full and outermost.direct:
        if isinstance(chosen, int) or (isinstance(chosen, Range) and chosen.step == 1):
            low, high = (chosen, chosen + 1) if isinstance(chosen, int) else _ends(chosen)
            copied, low, high = _below_range(below, pattern.shape, arrays, low, high)
            first = low + source.first
            numbers = torch.arange(first, first + high - low, device=source.device)
            return Storage(tuple(copied), numbers)
        slots = _dense_slots(chosen, selection.picks, source.device)
    elif isinstance(chosen, Range) and chosen.step == 1 and _is_ascending(pattern.format):
        pos, crd, *arrays = arrays
        low, high = _bounds(crd, *_ends(chosen))
        slots = torch.arange(low, high, device=crd.device)
        own = [torch.tensor([0, high - low], dtype=pos.dtype, device=pos.device)]
        own.append(crd[low:high] - chosen.start)
    else:
        return None
    copied, slots = _below(below, pattern.shape, arrays, slots)
    return Storage((*own, *copied), slots + source.first)


def candidate_slots(source: Source, selection: Selection) -> Tensor | None:
    """Slots that include all selected ones, found by the outermost level and by the coordinates of
    the innermost one. None for all slots."""
    slots = _slots_below_range(source, selection)
    levels = source.pattern.format.levels
    if not levels or levels[-1].part != "w" or not levels[-1].crd:
        return slots
    crd, dimension = source.pattern.arrays[-1], levels[-1].dimension
    chosen, size = selection.selectors[dimension], source.pattern.shape[dimension]
    hull = _hull(chosen, size)
    if (chosen is not None and hull is None) or (len(levels) == 1 and slots is not None):
        return slots
    crd = crd if slots is None else crd.index_select(0, slots)
    if hull is not None:
        kept = (crd >= hull[0]) & (crd < hull[1])
    elif size <= _SIZE_PER_LOOKUP * crd.numel():
        number = sum(one is None for one in selection.selectors[:dimension])
        is_picked = torch.zeros(size + 1, dtype=torch.bool, device=crd.device)
        is_picked[selection.picks[number].reshape(-1)] = True
        kept = is_picked[crd]  # an unused slot has the coordinate -1, which no index picks
    else:
        return slots
    found = kept.nonzero()[:, 0]
    return found if slots is None else slots.index_select(0, found)


def _slots_below_range(source: Source, selection: Selection) -> Tensor | None:
    """The slots in the range of the dimension that the outermost level holds."""
    pattern = source.pattern
    levels = pattern.format.levels
    if not levels or levels[0].part not in ("w", "q"):
        return None
    outermost, *below = levels
    hull = _hull(selection.selectors[outermost.dimension], pattern.shape[outermost.dimension])
    if hull is None:
        return None
    arrays = list(pattern.arrays)
    divisor = outermost.divisor if outermost.part == "q" else 1
    first, last = hull[0] // divisor, -(-hull[1] // divisor)
    if outermost.full and outermost.direct:
        slots = torch.arange(first, last, device=source.device)
    elif outermost.pos and outermost.crd and _is_ascending(pattern.format):
        _, crd, *arrays = arrays
        slots = torch.arange(*_bounds(crd, first, last), device=crd.device)
    else:
        return None
    return _below(below, pattern.shape, arrays, slots)[1]


def _ends(chosen: Range) -> tuple[int, int]:
    """The first coordinate and the end of consecutive ones."""
    return chosen.start, chosen.start + chosen.length


def _hull(chosen: Range | int | None, size: int) -> tuple[int, int] | None:
    """The smallest interval with the selected coordinates; None if it is the whole dimension."""
    if chosen is None:
        return None
    if not isinstance(chosen, Range):
        return chosen, chosen + 1
    if chosen.length == 0:
        return 0, 0
    ends = (chosen.start, chosen.start + (chosen.length - 1) * chosen.step)
    low, high = min(ends), max(ends) + 1
    return None if (low, high) == (0, size) else (low, high)


def _bounds(crd: Tensor, first: int, last: int) -> tuple[int, int]:
    """The first and the last slot, excluded, with coordinates from `first` to `last`, excluded."""
    largest = torch.iinfo(crd.dtype).max
    wanted = [min(first, largest), min(last, largest)]
    low, high = torch.searchsorted(crd, crd.new_tensor(wanted)).tolist()
    return low, high


def _keeps_levels(source: Source, selection: Selection, format: Format) -> bool:
    """Whether only the dimension of the outermost level is indexed, and the result has the same
    levels, without that one if the dimension is dropped."""
    pattern = source.pattern
    levels, texts = pattern.format.levels, pattern.format.counted_levels
    outermost = levels[0]
    if outermost.part != "w" or outermost.unused or NEW in selection.layout:
        return False
    others = enumerate(zip(selection.selectors, pattern.shape, strict=True))
    if not all(at == outermost.dimension or one == (0, 1, size) for at, (one, size) in others):
        return False
    is_dropped = isinstance(selection.selectors[outermost.dimension], int)
    if any(outermost.dimension in (one.dimension, one.second) for one in levels[1:]):
        return False
    if PICKED in selection.layout and len(selection.pick_shape) != 1:
        return False
    order = [outermost.dimension if item == PICKED else item for item in selection.layout]
    remaining = [
        re.sub(r"\bd(\d+)", lambda name: f"d{order.index(int(name[1]))}", text)
        for text in texts[is_dropped:]
    ]
    return tuple(remaining) == format.counted_levels


def _is_ascending(format: Format) -> bool:
    """Whether the coordinates of the outermost level ascend, without unused slots."""
    return "unordered" not in format.counted_levels[0] and not format.levels[0].unused


def _dense_slots(chosen: Range | None, picks: Sequence[Tensor], device: torch.device) -> Tensor:
    if chosen is None:
        return picks[0]
    return torch.arange(chosen.length, device=device) * chosen.step + chosen.start


def _below(
    levels: Sequence[Level], shape: Sequence[int], arrays: list[Tensor], slots: Tensor
) -> tuple[list[Tensor], Tensor]:
    """The arrays of these levels below some slots, and the slots of the innermost level."""
    copied: list[Tensor] = []
    stored = iter(arrays)
    for level in levels:
        if level.direct or level.width:
            extent = level.width or level.extent(shape[level.dimension])
            within = torch.arange(extent, device=slots.device)
            slots = (slots[:, None] * extent + within).reshape(-1)
        elif level.pos:
            pos = next(stored)
            starts = pos.index_select(0, slots)
            lengths = pos.index_select(0, slots + 1) - starts
            ends = torch.cumsum(lengths, 0, dtype=pos.dtype)
            copied.append(torch.cat([pos.new_zeros(1), ends]))
            parents = torch.repeat_interleave(lengths)
            within = torch.arange(parents.numel(), device=slots.device)
            slots = within + (starts - (ends - lengths)).index_select(0, parents)
        if level.crd or level.bits:
            copied.append(next(stored).index_select(0, slots))
    return copied, slots


def _below_range(
    levels: Sequence[Level], shape: Sequence[int], arrays: list[Tensor], low: int, high: int
) -> tuple[list[Tensor], int, int]:
    """As `_below`, for the slots from `low` to `high`, excluded: these are consecutive in each
    level."""
    copied: list[Tensor] = []
    stored = iter(arrays)
    for level in levels:
        if level.direct or level.width:
            extent = level.width or level.extent(shape[level.dimension])
            low, high = low * extent, high * extent
        elif level.pos:
            pos = next(stored)[low : high + 1]
            low, high = int(pos[0]), int(pos[-1])
            copied.append(pos - low)
        if level.crd or level.bits:
            copied.append(next(stored)[low:high].clone())
    return copied, low, high
