"""Other shapes: reshape, squeeze, expand, repeat; flip and roll."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tulle.restructuring.changes import change, changed
from tulle.restructuring.entries import Entries, Source, Storage, merged
from tulle.restructuring.level_storage import is_below_dense
from tulle.restructuring.outermost import outermost_selected
from tulle.restructuring.result_formats import Origin, default_format, moved, result_format
from tulle.restructuring.selections import Range, Selection
from tulle.support.errors import Unsupported, UserError
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.matching import keys_of
from tulle.tensors.sparse_tensor import SparseTensor

_MOST_ELEMENTS = 2**62  # of dimensions that are joined


class Group(NamedTuple):
    """Adjacent dimensions of the operand that become adjacent dimensions of the result."""

    before: tuple[int, ...]
    after: tuple[int, ...]


@recorded
def reshaped(source: SparseTensor, shape: Sequence[int]) -> SparseTensor:
    """The elements in row-major order with another shape."""
    sizes = source._pattern.shape
    wanted = _completed(sizes, tuple(shape))
    if wanted == sizes:
        return source
    groups = _groups(sizes, wanted)
    parameters = tuple((tuple(group.before), tuple(group.after)) for group in groups)
    for group in groups:
        if math.prod(sizes[d] for d in group.before) > _MOST_ELEMENTS and len(group.after) > 0:
            raise Unsupported(
                f"reshape: the dimensions {list(group.before)} together have more than "
                f"{_MOST_ELEMENTS} elements, which is not supported; keep them apart."
            )
    return changed("reshape", [merged(source)], parameters, _format(source, wanted, groups), wanted)


def _completed(sizes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with the size that -1 stands for. Raises UserError if it does not fit."""
    if not all(isinstance(size, int | np.integer | torch.SymInt) for size in shape):
        raise UserError(f"reshape: the sizes must be integers, but found {list(shape)}.")
    unknown = [d for d, size in enumerate(shape) if type(size) is int and size == -1]
    known = math.prod(size for d, size in enumerate(shape) if d not in unknown)
    total = math.prod(sizes)
    if not shape:
        raise UserError("reshape: a sparse tensor has at least one dimension; write A.sum().")
    if len(unknown) > 1 or any(size < 0 for d, size in enumerate(shape) if d not in unknown):
        raise UserError(f"reshape: the shape {list(shape)} has negative sizes; one may be -1.")
    if unknown and known and total % known == 0:
        [at] = unknown
        return (*shape[:at], total // known, *shape[at + 1 :])
    if unknown or known != total:
        raise UserError(
            f"reshape: the shape {list(shape)} does not fit a tensor of the shape {list(sizes)}."
        )
    return shape


def _groups(before: tuple[int, ...], after: tuple[int, ...]) -> list[Group]:
    """The smallest groups of dimensions with equal numbers of elements. Dimensions of size 1 are in
    no group."""
    left = [d for d, size in enumerate(before) if size != 1]
    right = [d for d, size in enumerate(after) if size != 1]
    if 0 in before:
        return [Group(tuple(left), tuple(right))]
    groups = []
    while left:
        own, other = [left.pop(0)], [right.pop(0)]
        have, want = before[own[0]], after[other[0]]
        while have != want:
            if have < want:
                own.append(left.pop(0))
                have *= before[own[-1]]
            else:
                other.append(right.pop(0))
                want *= after[other[-1]]
        groups.append(Group(tuple(own), tuple(other)))
    return groups


def _format(source: SparseTensor, shape: tuple[int, ...], groups: list[Group]) -> Format:
    origins: list[Origin | None] = [None] * len(shape)
    for group in groups:
        if len(group.before) != 1 or len(group.after) != 1:
            return default_format(source.format, len(shape))
        origins[group.after[0]] = Origin(group.before[0])
    return result_format(source.format, origins)


@change
def _reshape(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries:
    [source] = sources
    entries, sizes = source.entries(), source.pattern.shape
    rows = [torch.zeros_like(entries.numbers) for _ in shape]
    if not entries.numbers.numel():
        return Entries(torch.stack(rows), entries.numbers)
    for before, after in parameters:
        if not after:
            continue
        numbers = keys_of(entries.coordinates[list(before)], tuple(sizes[d] for d in before))
        for d in reversed(after[1:]):
            quotient = torch.div(numbers, shape[d], rounding_mode="trunc")
            rows[d] = torch.sub(numbers, quotient, alpha=shape[d])
            numbers = quotient
        rows[after[0]] = numbers
    # Row-major order is the same in both shapes.
    is_sorted = entries.order == tuple(range(len(sizes)))
    return Entries(
        torch.stack(rows), entries.numbers, tuple(range(len(shape))) if is_sorted else None
    )


# ---- repeated tensors --------------------------------------------------------------------------


@recorded
def tiled(source: SparseTensor, counts: Sequence[int]) -> SparseTensor:
    """The tensor that many times along each dimension. Further counts at the front are those of new
    dimensions."""
    new = len(counts) - source.ndim
    sizes = source._pattern.shape
    shape = [*counts[:new], *(size * n for size, n in zip(sizes, counts[new:], strict=True))]
    origins: list[Origin | None] = [None] * new
    for d, (size, count) in enumerate(zip(sizes, counts[new:], strict=True)):
        origins.append(Origin(d) if count == 1 else moved(d, size))
    format = result_format(source.format, origins)
    return changed("tile", [merged(source)], tuple(counts), format, shape)


@change
def _tile(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries:
    [source] = sources
    entries = source.entries()
    new = len(parameters) - len(source.pattern.shape)
    zeros = entries.coordinates.new_zeros(new, entries.numbers.numel())
    rows, numbers = torch.cat([zeros, entries.coordinates]), entries.numbers
    for d, count in enumerate(parameters):
        if count == 1:
            continue
        size = 1 if d < new else source.pattern.shape[d - new]
        copies = torch.arange(count, device=rows.device).repeat_interleave(numbers.numel())
        rows, numbers = rows.repeat(1, count), numbers.repeat(count)
        rows[d] += copies * size
    return Entries(rows, numbers)


# ---- permuted coordinates ----------------------------------------------------------------------


@recorded
def flipped(source: SparseTensor, dims: Sequence[int]) -> SparseTensor:
    """The tensor in reverse order along these dimensions."""
    origins = [moved(d) if d in dims else Origin(d) for d in range(source.ndim)]
    format = result_format(source.format, origins)
    return changed("flip", [merged(source)], tuple(dims), format, source._pattern.shape)


@change
def _flip(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries | Storage:
    [source] = sources
    ranges = [
        Range(size - 1, -1, size) if d in parameters else Range(0, 1, size)
        for d, size in enumerate(shape)
    ]
    ready = outermost_selected(
        source, Selection(tuple(ranges), (), tuple(range(len(shape)))), format
    )
    if ready is not None:
        return ready
    if len(parameters) == 1 and format == source.pattern.format:
        [d] = parameters
        if is_below_dense(format, d):
            return _innermost_flipped(source, shape[d])
    entries = source.entries()
    runs = entries.runs()
    for d in parameters:
        entries.coordinates[d] = shape[d] - 1 - entries.coordinates[d]
    if runs is None or entries.order is None:
        return entries._replace(order=None)
    # The runs of each flipped dimension change places within the run of the dimensions before it.
    places = torch.arange(entries.numbers.numel(), device=entries.numbers.device)
    for (first, length), (inner, inner_length), d in zip(
        runs, runs[1:], entries.order, strict=False
    ):
        if d in parameters:
            places += 2 * (first - inner) + length - inner_length
    return entries.placed(places, entries.order)


def _innermost_flipped(source: Source, size: int) -> Storage:
    """The storage with the entries below each slot of the dense levels in reverse order."""
    pos, crd = source.pattern.arrays
    # The slots n and m change places where n + m is this sum.
    sums = torch.repeat_interleave(pos[:-1].to(torch.int64) + pos[1:] - 1, pos.diff())
    slots = sums.sub_(torch.arange(crd.numel(), device=crd.device))
    return Storage((pos.clone(), size - 1 - crd.index_select(0, slots)), slots + source.first)


@recorded
def rolled(source: SparseTensor, shifts: Sequence[int], dims: Sequence[int] | None) -> SparseTensor:
    """The tensor with coordinates that are shifted along these dimensions, around the end. Without
    dimensions all elements are shifted in row-major order."""
    shape = source._pattern.shape
    is_moved = [dims is None or d in dims for d in range(source.ndim)]
    origins = [moved(d) if is_moved[d] else Origin(d) for d in range(source.ndim)]
    format = result_format(source.format, origins)
    along = range(source.ndim - 1, -1, -1) if dims is None else dims
    by = _digits(shifts[0], shape) if dims is None else shifts
    parameters = (tuple(zip(by, along, strict=True)), dims is None)
    return changed("roll", [merged(source)], parameters, format, shape)


def _digits(shift: int, shape: Sequence[int]) -> list[int]:
    """A shift of all elements as shifts along the dimensions, the last one first."""
    digits = []
    for size in reversed(shape):
        digits.append(shift % max(size, 1))
        shift = shift // max(size, 1)
    return digits


@change
def _roll(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries:
    shifts, carries = parameters
    entries = sources[0].entries()
    rows = list(entries.coordinates)
    carry = torch.zeros_like(entries.numbers)
    for shift, d in shifts:
        moved_by = rows[d] + shift + carry
        rows[d] = moved_by % max(shape[d], 1)
        if carries:
            carry = moved_by // max(shape[d], 1)
    return Entries(torch.stack(rows), entries.numbers)
