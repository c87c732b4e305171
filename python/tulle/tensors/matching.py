"""Values of one pattern, or of a dense tensor, in the storage order of another pattern."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tulle.tensors.own_memory import is_traced, without_gradients_of_transforms
from tulle.tensors.pattern import Pattern

_LARGEST_KEY = 2**62


def matched(values: Tensor, source: Pattern, target: Pattern) -> Tensor:
    """The values of `source`, which has each coordinate once, in the storage order of `target`. All
    sources of one format that a target meets have the same entries.
    A coordinate that `target` repeats gets its value each time; slots without an entry get 0."""
    name = f"slots of {source.format}"
    known = target.derived.get(name)
    if known is None:
        known = target.derived[name] = _lasting_slots_of(source, target)
    return _taken(values, *known)


def matched_once(values: Tensor, source: Pattern, target: Pattern) -> Tensor:
    """As `matched`, for patterns that other calls do not have again."""
    return _taken(values, *_slots_of(source, target))


def _taken(values: Tensor, slots: Tensor, held: Tensor | None) -> Tensor:
    """The values at these slots, and 0 where the source has no entry."""
    if held is None:
        return values[slots]
    if is_traced(values) or not values.numel():  # slot 0 need not exist
        values = torch.cat([values, values.new_zeros(1)])
    return values[slots].masked_fill(~held, 0)


def gathered(dense: Tensor, pattern: Pattern) -> Tensor:
    """The elements of a dense tensor at the slots of a pattern; slots without an entry get 0."""
    coordinates, held = _entries(pattern)
    inside = coordinates.clamp(min=0)
    for row, size in zip(inside, pattern.shape, strict=True):
        row.clamp_(max=max(size - 1, 0))
    return dense[tuple(inside)].masked_fill(~held, 0)


def _lasting_slots_of(source: Pattern, target: Pattern) -> tuple[Tensor, Tensor | None]:
    """`_slots_of` as tensors that outlive transforms of torch.func and inference mode."""
    with torch.inference_mode(False):
        slots, held = _slots_of(source, target)
    if held is None:
        return *without_gradients_of_transforms([slots]), None
    slots, held = without_gradients_of_transforms([slots, held])
    return slots, held


def _slots_of(source: Pattern, target: Pattern) -> tuple[Tensor, Tensor | None]:
    """The slot of `source` for each slot of `target`, and which slots of `target` hold an entry."""
    wanted, held = _entries(target)
    present, present_held = _entries(source)
    keys = keys_of(torch.cat([present, wanted], dim=1), source.shape)
    present_keys, wanted_keys = keys.split([present.shape[1], wanted.shape[1]])
    where = present_held.nonzero()[:, 0]
    present_keys, order = present_keys[where].sort()
    if is_traced(keys):
        # One more key, which no slot has, stands behind the present ones.
        present_keys = torch.cat([present_keys, keys.new_full((1,), torch.iinfo(keys.dtype).max)])
        where = torch.cat([where[order], where.new_zeros(1)])
        at = torch.searchsorted(present_keys, wanted_keys)
        return where[at], held & (present_keys[at] == wanted_keys)
    if not present_keys.numel():
        return torch.zeros_like(wanted_keys), torch.zeros_like(held)
    at = torch.searchsorted(present_keys, wanted_keys).clamp(max=present_keys.numel() - 1)
    found = held & (present_keys[at] == wanted_keys)
    return where[order[at]], None if bool(found.all()) else found


def _entries(pattern: Pattern) -> tuple[Tensor, Tensor]:
    """The coordinates of all slots, and which of them hold an entry."""
    device = pattern.arrays[0].device if pattern.arrays else None
    return pattern.coordinates_at(torch.arange(pattern.count_slots(), device=device))


def keys_of(coordinates: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A number for each column: equal for equal columns, and in lexicographic order."""
    if math.prod(shape) < _LARGEST_KEY:
        if not shape:
            return coordinates.new_zeros(coordinates.shape[1])
        keys = coordinates[0]
        for row, size in zip(coordinates[1:], shape[1:], strict=True):
            keys = torch.add(row, keys, alpha=size)
        return keys
    return torch.unique(coordinates, dim=1, return_inverse=True)[1]
