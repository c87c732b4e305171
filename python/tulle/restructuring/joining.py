"""Tensors that are joined: cat, stack, block_diag, kron."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from tulle.restructuring.changes import change, changed
from tulle.restructuring.entries import Entries, Source, Storage, merged
from tulle.restructuring.level_storage import is_below_dense, level_order
from tulle.restructuring.result_formats import Origin, default_format, moved, result_format
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.matching import keys_of
from tulle.tensors.sparse_tensor import SparseTensor


def _checked(caller: str, tensors: Any) -> list[SparseTensor]:
    """The tensors, if all are sparse and on one device."""
    given = list(tensors)
    if not given:
        raise UserError(f"{caller}: expected at least one tensor, but found none.")
    for number, tensor in enumerate(given):
        if not isinstance(tensor, SparseTensor):
            raise UserError(
                f"{caller}: tensor {number} is not a sparse tensor of Tulle; convert it with "
                "tulle.tensor(x), or the sparse ones with to_dense()."
            )
        if tensor.device != given[0].device:
            raise UserError(
                f"{caller}: the tensors are on {given[0].device} and {tensor.device}; move them "
                "to one device with to(device)."
            )
    return given


def _joined_format(tensors: Sequence[SparseTensor]) -> Format:
    """The format of the first tensor, as far as results of several tensors have it: padded levels
    need a common width."""
    first = tensors[0].format
    if first.is_composite or all(tensor.format == first for tensor in tensors):
        return first
    return result_format(first, [moved(d, 0) for d in range(tensors[0].ndim)])


def _alignment(starts: Sequence[int]) -> int:
    """A number that divides all starts."""
    return math.gcd(*(int(start) for start in starts))


@recorded
def joined(tensors: Any, dim: int) -> SparseTensor:
    """The tensors one after the other along a dimension."""
    given = _checked("cat", tensors)
    first = given[0]
    at = dimension_of("cat", dim, first.ndim)
    for number, tensor in enumerate(given):
        if tensor.ndim != first.ndim or any(
            one != other and d != at
            for d, (one, other) in enumerate(zip(tensor.shape, first.shape, strict=True))
        ):
            raise UserError(
                f"cat: the sizes must be equal except in dimension {at}, but tensor {number} has "
                f"the shape {list(tensor.shape)}, and tensor 0 has {list(first.shape)}."
            )
    *starts, total = accumulate((tensor.shape[at] for tensor in given), initial=0)
    shape = [*first.shape[:at], total, *first.shape[at + 1 :]]
    origins = [moved(d, _alignment(starts)) if d == at else Origin(d) for d in range(first.ndim)]
    format = result_format(_joined_format(given), origins)
    return changed("join", [merged(one) for one in given], (at, tuple(starts)), format, shape)


@change
def _join(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries | Storage:
    at, starts = parameters
    if _is_outermost(sources, at, format):
        return _one_after_the_other(sources, {at: starts})
    is_same = all(source.pattern.format == format for source in sources)
    if is_same and is_below_dense(format, at):
        return _side_by_side(sources, starts)
    parts = [source.entries() for source in sources]
    for part, start in zip(parts, starts, strict=True):
        if start:
            part.coordinates[at] += start
    order = level_order(format)
    places = None if order is None else _merged_places(parts, at, order, shape)
    rows = torch.cat([part.coordinates for part in parts], dim=1)
    found = Entries(rows, torch.cat([part.numbers for part in parts]))
    return found if places is None or order is None else found.placed(places, order)


def _merged_places(
    parts: Sequence[Entries], dimension: int, order: tuple[int, ...], shape: Sequence[int]
) -> Tensor | None:
    """For each part the places of its entries among those of all parts, in the order of these
    dimensions: the entries that agree before the joined dimension follow each other part by part.
    None if this costs more than to sort, or if the entries of a part are not in order."""
    outer = list(order[: order.index(dimension)])
    sizes = tuple(shape[d] for d in outer)
    total = math.prod(sizes)
    if not 0 < total <= 4 * sum(part.numbers.numel() for part in parts):
        return None
    if any(part.order != order for part in parts):
        return None
    keys = [keys_of(part.coordinates[outer], sizes) for part in parts]
    counts = torch.stack([torch.bincount(one, minlength=total) for one in keys])
    # Where the entries of a part with a key begin, among all parts and in the part alone.
    begins = (counts.T.reshape(-1).cumsum(0).reshape(total, -1) - counts.T).T
    own = counts.cumsum(1) - counts
    return torch.cat(
        [
            (begin - first).index_select(0, key) + torch.arange(key.numel(), device=key.device)
            for begin, first, key in zip(begins, own, keys, strict=True)
        ]
    )


def _is_outermost(sources: list[Source], dimension: int, format: Format) -> bool:
    """Whether operands and result have the same levels, and the outermost one holds the dimension
    with ascending coordinates."""
    outermost = format.levels[0]
    is_dense = outermost.full and outermost.direct
    is_ascending = outermost.pos and outermost.crd and not outermost.unused
    return (
        outermost.dimension == dimension
        and outermost.part == "w"
        and (is_dense or (is_ascending and "unordered" not in format.counted_levels[0]))
        and all(source.pattern.format == format for source in sources)
    )


def _one_after_the_other(sources: list[Source], starts: Mapping[int, Sequence[int]]) -> Storage:
    """The storage of tensors that are joined along the outermost level. `starts` are their first
    coordinates in the result in some dimensions, without those of dense levels below. If it is
    empty, the result has a dense level above theirs."""
    levels = sources[0].pattern.format.levels
    has_all_slots = levels[0].full or not starts
    stored = [(name, level) for level in levels for name in level.arrays]
    arrays: list[Tensor] = []
    for at, (name, level) in enumerate(stored):
        given = [source.pattern.arrays[at] for source in sources]
        if name == "pos":
            filled = accumulate((int(pos[-1]) for pos in given), initial=0)
            moved_on = [pos[1:] + start for pos, start in zip(given, filled, strict=False)]
            given = [given[0][:1], *(moved_on if at or has_all_slots else moved_on[-1:])]
        elif name == "crd" and level.dimension in starts:
            own = starts[level.dimension]
            dtype = torch.int64 if own[-1] >= 2**31 else given[0].dtype
            given = [crd.to(dtype) + start for crd, start in zip(given, own, strict=True)]
        arrays.append(torch.cat(given))
    count = sum(source.value_count for source in sources)
    return Storage(tuple(arrays), torch.arange(count, device=sources[0].device))


def _side_by_side(sources: list[Source], starts: Sequence[int]) -> Storage:
    """The storage of tensors that are joined along the innermost level. Below each slot of the
    level above, the entries of the tensors follow each other."""
    arrays = [source.pattern.arrays for source in sources]
    lengths = torch.stack([pos.diff() for pos, _ in arrays])
    ends = lengths.T.reshape(-1).cumsum(0).reshape(-1, len(sources))
    begins = ends.T - lengths
    count = sum(source.value_count for source in sources)
    numbers = torch.empty(count, dtype=torch.int64, device=sources[0].device)
    for source, (pos, _), begin, own in zip(sources, arrays, begins, lengths, strict=True):
        listed = torch.arange(source.value_count, device=numbers.device)
        places = torch.repeat_interleave(begin - pos[:-1], own).add_(listed)
        numbers.scatter_(0, places, listed.add_(source.first))
    dtype = torch.int64 if starts[-1] >= 2**31 else arrays[0][1].dtype
    moved_on = [crd.to(dtype) + start for (_, crd), start in zip(arrays, starts, strict=True)]
    pos = torch.cat([ends.new_zeros(1), ends[:, -1]])
    return Storage((pos, torch.cat(moved_on).index_select(0, numbers)), numbers)


def _is_below_dense(sources: list[Source], format: Format) -> bool:
    """Whether the levels of all operands are those of the result below a dense level."""
    first, *below = format.counted_levels
    own = sources[0].pattern.format
    named = [
        re.sub(r"\bd(\d+)", lambda name: f"d{int(name[1]) + 1}", n) for n in own.counted_levels
    ]
    return first == "d0:dense" and below == named and all(s.pattern.format == own for s in sources)


def _of_each(numbers: Sequence[int], parts: Sequence[Entries]) -> Tensor:
    """For each entry of the parts, one after the other, the number of its part."""
    like = parts[0].numbers
    return torch.cat(
        [
            like.new_full((part.numbers.numel(),), number)
            for number, part in zip(numbers, parts, strict=True)
        ]
    )


@recorded
def stacked(tensors: Any, dim: int) -> SparseTensor:
    """The tensors along a new dimension."""
    given = _checked("stack", tensors)
    first = given[0]
    at = dimension_of("stack", dim, first.ndim + 1)
    for number, tensor in enumerate(given):
        if tensor.shape != first.shape:
            raise UserError(
                f"stack: the shapes must be equal, but tensor {number} has {list(tensor.shape)}, "
                f"and tensor 0 has {list(first.shape)}."
            )
    shape = [*first.shape[:at], len(given), *first.shape[at:]]
    origins: list[Origin | None] = [Origin(d) for d in range(first.ndim)]
    origins.insert(at, None)
    format = result_format(_joined_format(given), origins)
    return changed("stack", [merged(one) for one in given], at, format, shape)


@change
def _stack(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries | Storage:
    if parameters == 0 and _is_below_dense(sources, format):
        return _one_after_the_other(sources, {})
    parts = [source.entries() for source in sources]
    rows = list(torch.cat([part.coordinates for part in parts], dim=1))
    rows.insert(parameters, _of_each(range(len(parts)), parts))
    return Entries(torch.stack(rows), torch.cat([part.numbers for part in parts]))


@recorded
def block_diagonal(tensors: Any) -> SparseTensor:
    """The matrices as the blocks of a block diagonal matrix."""
    blocks = _checked("block_diag", tensors)
    for tensor in blocks:
        if tensor.ndim != 2:
            raise UserError(f"block_diag: expected matrices, but found rank {tensor.ndim}.")
    *rows, height = accumulate((one.shape[0] for one in blocks), initial=0)
    *columns, width = accumulate((one.shape[1] for one in blocks), initial=0)
    origins = [moved(0, _alignment(rows)), moved(1, _alignment(columns))]
    format = result_format(_joined_format(blocks), origins)
    starts = (tuple(rows), tuple(columns))
    sources = [merged(one) for one in blocks]
    return changed("block_diagonal", sources, starts, format, (height, width))


@change
def _block_diagonal(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries | Storage:
    outer, inner = format.levels[0], format.levels[-1]
    is_by_entry = level_order(format) is not None and inner.dimension != outer.dimension
    if is_by_entry and inner.crd and _is_outermost(sources, outer.dimension, format):
        return _one_after_the_other(sources, dict(enumerate(parameters)))
    parts = [source.entries() for source in sources]
    for part, *starts in zip(parts, *parameters, strict=True):
        for row, start in zip(part.coordinates, starts, strict=True):
            row += start
    order = parts[0].order
    is_sorted = all(part.order == order for part in parts)
    rows = torch.cat([part.coordinates for part in parts], dim=1)
    return Entries(rows, torch.cat([part.numbers for part in parts]), order if is_sorted else None)


# ---- kron --------------------------------------------------------------------------------------


@recorded
def kronecker(left: Any, right: Any) -> SparseTensor:
    """The Kronecker product."""
    a, b = _checked("kron", [left, right])
    if a.dtype != b.dtype:
        dtype = torch.promote_types(a.dtype, b.dtype)
        a, b = a.to(dtype=dtype), b.to(dtype=dtype)
    rank = max(a.ndim, b.ndim)
    a_sizes = [*[1] * (rank - a.ndim), *a.shape]
    b_sizes = [*[1] * (rank - b.ndim), *b.shape]
    shape = [one * other for one, other in zip(a_sizes, b_sizes, strict=True)]
    format = default_format((a if a.ndim >= b.ndim else b).format, rank)
    a, b = merged(a), merged(b)
    count = b.values().shape[0]

    def products(values: list[Tensor], numbers: Tensor) -> Tensor:
        """The product of two values has the number of the first times `count` plus that of the
        second."""
        found = numbers.clamp(min=0)
        first = torch.div(found, max(count, 1), rounding_mode="floor")
        product = _at(values[0], first) * _at(values[1], found - first * count)
        return torch.where(numbers < 0, 0, product).to(product.dtype)

    return changed("kronecker", [a, b], tuple(b_sizes), format, shape, products)


def _at(values: Tensor, numbers: Tensor) -> Tensor:
    """The values with these numbers. Without values, all results are unused slots."""
    return torch.cat([values, values.new_zeros(1)]).index_select(0, numbers)


@change
def _kronecker(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries:
    a, b = sources
    left, right = a.entries(), b.entries()
    rows = []
    for d, size in enumerate(parameters):
        outer, inner = (
            one.coordinates[d - missing] if d >= missing else torch.zeros_like(one.numbers)
            for one in (left, right)
            for missing in [len(shape) - one.coordinates.shape[0]]
        )
        rows.append((outer[:, None] * size + inner).reshape(-1))
    numbers = left.numbers[:, None] * b.value_count + (right.numbers - b.first)
    found = Entries(torch.stack(rows), numbers.reshape(-1))
    runs, inner = left.runs(), right.runs()
    if left.order != right.order or not runs or not inner or left.order != level_order(format):
        return found
    # The runs of the left operand in a dimension, and within each of them those of the right one,
    # lie within the runs of both operands in the dimensions before it.
    places = torch.zeros_like(numbers)
    for (a1, _), (a2, count), (b1, width), (b2, _) in zip(
        runs, runs[1:], inner, inner[1:], strict=False
    ):
        places += (a2 - a1)[:, None] * width + count[:, None] * (b2 - b1)
    assert left.order is not None
    return found.placed(places.reshape(-1), left.order)
