"""Indexing: `A[...]`, `narrow`, `select`, `index_select`, `masked_select`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.programs.graph_calls import is_traced
from tulle.restructuring.changes import change, changed, looked_up
from tulle.restructuring.entries import Entries, Source, Storage, merged
from tulle.restructuring.level_storage import order_of, stored_order
from tulle.restructuring.outermost import candidate_slots, outermost_selected
from tulle.restructuring.result_formats import Origin, default_format, moved, result_format
from tulle.restructuring.selections import (
    NEW,
    PICKED,
    Range,
    Selection,
    check_coordinates,
    selection_of,
)
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.matching import keys_of
from tulle.tensors.sparse_tensor import SparseTensor

# A table of all keys costs less than a search for each entry up to this many keys for each entry.
_KEYS_PER_LOOKUP = 16


@recorded
def indexed(source: SparseTensor, index: Any) -> SparseTensor | Tensor:
    """`source[index]`. An ordinary tensor if integers and index tensors leave no dimension."""
    at_entries = _at_same_entries(source, index)
    if at_entries is not None:
        return at_entries
    selection = selection_of(index, source._pattern.shape, source.device)
    return selected(source, selection)


def _at_same_entries(source: SparseTensor, mask: Any) -> Tensor | None:
    """The elements where a sparse mask with the same entries is true, in row-major order. None for
    any other index."""
    if not isinstance(mask, SparseTensor) or mask._pattern is not source._pattern:
        return None
    if mask.dtype != torch.bool or source.format.is_composite or is_traced([source, mask]):
        return None
    pattern, order = source._pattern, stored_order(source.format)
    if order is None:
        return None
    pattern.ensure_checked()
    slots = mask._values.nonzero()[:, 0]
    if order != tuple(range(source.ndim)):
        coordinates, _ = pattern.coordinates_at(slots)
        places = order_of(coordinates, pattern.shape, range(source.ndim))
        slots = slots if places is None else slots.index_select(0, places)
    return source._values.index_select(0, slots)


def selected(source: SparseTensor, selection: Selection) -> SparseTensor | Tensor:
    """The elements that are selected."""
    shape = selection.shape()
    if not any(isinstance(one, Range) for one in selection.selectors):
        return _elements(merged(source), selection, shape)
    format = _format_of(source, selection)
    return changed("select", [merged(source)], selection.parameters(), format, shape)


def _format_of(source: SparseTensor, selection: Selection) -> Format:
    """The format of the result."""
    sizes = source._pattern.shape
    origins: list[Origin | None] = []
    for item in selection.layout:
        if item == NEW:
            origins.append(None)
        elif item == PICKED:
            picked = [d for d, one in enumerate(selection.selectors) if one is None]
            if len(picked) > 1 or len(selection.pick_shape) != 1:
                return default_format(source.format, len(selection.shape()))
            origins.append(moved(picked[0]))
        else:
            chosen = selection.selectors[item]
            assert isinstance(chosen, Range)
            is_run = chosen.step == 1 or (chosen.start, chosen.length) == (0, sizes[item])
            origins.append(Origin(item, chosen.start) if is_run else moved(item))
    return result_format(source.format, origins)


@change
def _select(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries | Storage:
    [source] = sources
    selectors, picks, layout = parameters
    selectors = [Range(*one) if isinstance(one, tuple) else one for one in selectors]
    selection = Selection(tuple(selectors), picks, layout)
    _check_picks(selection, source.pattern.shape)
    ready = outermost_selected(source, selection, format)
    if ready is not None:
        return ready
    entries = _in_ranges(source.entries(candidate_slots(source, selection)), selection)
    if not picks:
        return _laid_out(entries, entries.coordinates.new_empty(0), selection)
    places, found = _matches(entries, selection, source.pattern.shape)
    return _laid_out(entries.at(places), found, selection)


def _check_picks(selection: Selection, shape: Sequence[int]) -> None:
    """Raises OutOfRange for an index tensor of a graph with a coordinate that does not exist."""
    for at, pick in zip(_picked(selection), selection.picks, strict=True):
        check_coordinates(pick, at, shape[at], is_counted_from_front=True)


def _picked(selection: Selection) -> list[int]:
    return [d for d, one in enumerate(selection.selectors) if one is None]


def _in_ranges(entries: Entries, selection: Selection) -> Entries:
    """The entries inside of the ranges and at the single coordinates, with the coordinates counted
    in the ranges."""
    rows = list(entries.coordinates)
    kept: Tensor | None = None
    for at, chosen in enumerate(selection.selectors):
        if chosen is None:
            continue
        if not isinstance(chosen, Range):
            inside = rows[at] == chosen
        else:
            start, step, length = chosen
            offset = rows[at] - start
            number = offset if step == 1 else torch.div(offset, step, rounding_mode="floor")
            inside = (number >= 0) & (number < length)
            if step != 1:
                inside &= number * step == offset
            rows[at] = number
        kept = inside if kept is None else kept & inside
    # Single coordinates and ascending ranges leave the order of the remaining entries.
    is_ascending = all(
        isinstance(one, int) or (one and one.step > 0) for one in selection.selectors
    )
    order = entries.order if is_ascending else None
    found = Entries(torch.stack(rows), entries.numbers, order)
    return found if kept is None else found.where(kept)


def _matches(
    entries: Entries, selection: Selection, shape: tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    """Each pair of an entry and a pick that have the same coordinates: the place of the entry and
    the number of the pick."""
    dimensions = _picked(selection)
    wanted = torch.stack([pick.reshape(-1) for pick in selection.picks])
    given = entries.coordinates[dimensions]
    keys = keys_of(torch.cat([given, wanted], dim=1), tuple(shape[d] for d in dimensions))
    entry_keys, pick_keys = keys.split([given.shape[1], wanted.shape[1]])
    pick_keys, order = pick_keys.sort(stable=True)
    first, counts = _ranges_of(pick_keys, entry_keys, math.prod(shape[d] for d in dimensions))
    places = torch.repeat_interleave(counts)
    starts = torch.cumsum(counts, 0) - counts
    within = torch.arange(places.numel(), device=places.device)
    found = within + (first - starts).index_select(0, places)
    return places, order.index_select(0, found)


def _ranges_of(pick_keys: Tensor, entry_keys: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """For each entry the first of the ascending picks with its key, and their number; there are at
    most that many keys."""
    if most > _KEYS_PER_LOOKUP * (pick_keys.numel() + entry_keys.numel()):
        first = torch.searchsorted(pick_keys, entry_keys)
        return first, torch.searchsorted(pick_keys, entry_keys, right=True) - first
    counts = torch.zeros(most, dtype=torch.int64, device=pick_keys.device)
    counts.index_add_(0, pick_keys, torch.ones_like(pick_keys))
    starts = torch.cumsum(counts, 0) - counts
    return starts.index_select(0, entry_keys), counts.index_select(0, entry_keys)


def _laid_out(entries: Entries, found: Tensor, selection: Selection) -> Entries:
    """The entries with the dimensions of the result; `found` are the numbers of their picks."""
    rows: list[Tensor] = []
    for item in selection.layout:
        if item == NEW:
            rows.append(torch.zeros_like(entries.numbers))
        elif item == PICKED:
            shape = selection.pick_shape
            if len(shape) == 1:
                rows.append(found)
                continue
            for at, size in enumerate(shape):
                below = math.prod(shape[at + 1 :])
                rows.append(found // max(below, 1) % max(size, 1))
        else:
            rows.append(entries.coordinates[item])
    is_same = selection.layout == tuple(range(len(selection.selectors)))
    return Entries(torch.stack(rows), entries.numbers, entries.order if is_same else None)


# ---- single elements ---------------------------------------------------------------------------


def _elements(source: SparseTensor, selection: Selection, shape: Sequence[int]) -> Tensor:
    """The elements at coordinates that are given completely."""
    rank = source.ndim
    if rank > 1 and selection.selectors[0] is not None and _has_rows(source):
        whole = [Range(0, 1, size) for size in source._pattern.shape[1:]]
        in_row = (selection.selectors[0], *whole)
        row = selected(source, Selection(in_row, (), tuple(range(1, rank))))
        assert isinstance(row, SparseTensor)
        rest = Selection(selection.selectors[1:], selection.picks, selection.layout)
        return _elements(row, rest, shape)
    return looked_up("look_up", source, (selection.selectors, selection.picks), shape)


def _has_rows(source: SparseTensor) -> bool:
    """Whether the storage leads to the part at a coordinate of dimension 0. A graph looks up all
    coordinates at once."""
    outermost = source.format.levels[0]
    is_direct = outermost.full and outermost.part == "w" and outermost.dimension == 0
    return is_direct and not is_traced([source._values])


@change
def _look_up(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Storage:
    [source] = sources
    selectors, picks = parameters
    sizes = source.pattern.shape
    selection = Selection(tuple(selectors), picks, ())
    _check_picks(selection, sizes)
    entries = source.entries(candidate_slots(source, selection))
    rest = list(picks)
    count = picks[0].numel() if picks else 1
    rows = []
    for chosen in selectors:
        if chosen is None:
            rows.append(rest.pop(0).reshape(-1))
        else:
            rows.append(entries.numbers.new_full((count,), chosen))
    keys = keys_of(torch.cat([entries.coordinates, torch.stack(rows)], dim=1), sizes)
    present, wanted = keys.split([entries.numbers.numel(), count])
    if not present.numel():
        return Storage((), torch.full_like(wanted, -1))
    numbers = entries.numbers
    if not bool((present[1:] > present[:-1]).all()):
        present, order = present.sort()
        numbers = numbers[order]
    at = torch.searchsorted(present, wanted).clamp(max=present.numel() - 1)
    return Storage((), torch.where(present[at] == wanted, numbers[at], -1))


def masked_selected(source: SparseTensor, mask: Any) -> SparseTensor | Tensor:
    """The elements where a mask of the same shape is true, an ordinary vector."""
    if not isinstance(mask, SparseTensor | Tensor) or mask.dtype != torch.bool:
        raise UserError("masked_select: expected a mask, a tensor of truth values.")
    if tuple(mask.shape) != tuple(source.shape):
        raise UserError(
            f"masked_select: the mask has the shape {list(mask.shape)}, but the tensor has the "
            f"shape {list(source.shape)}."
        )
    return indexed(source, mask)
