"""Sorting along a dimension, over stored entries, and the entries in row-major order."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tulle.restructuring.entries import merged
from tulle.restructuring.graph_operators import graph_operator
from tulle.restructuring.level_storage import order_of, positions
from tulle.restructuring.reading import count_without_memory, restored_structure, structure_of
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


class _Sorted(NamedTuple):
    """The entries of a tensor whose last dimension is sorted."""

    values: Tensor
    coordinates: Tensor  # along the last dimension
    pos: Tensor  # where the entries of each row begin; one number more than rows


def _sorted_rows(tensor: SparseTensor, descending: bool) -> _Sorted:
    values = tensor.values()
    numbers, coordinates, pos = _order(*structure_of(tensor), descending)
    return _Sorted(values[numbers], coordinates, pos)


def _order_without_memory(*args: Any) -> list[Tensor]:
    *structure, _ = args
    shape, values = structure[2], structure[-1]
    count = count_without_memory(*structure)
    numbers = values.new_empty(count, dtype=torch.int64)
    pos = values.new_empty(math.prod(shape[:-1]) + 1, dtype=torch.int64)
    return [numbers, torch.empty_like(numbers), pos]


@graph_operator(_order_without_memory)
def _order(*args: Any) -> list[Tensor]:
    """The slots of the entries in order, their coordinates along the last dimension, and where the
    entries of each row begin."""
    *structure, values, descending = args
    pattern = restored_structure(*structure)
    shape = pattern.shape
    slots = torch.arange(values.shape[0], device=values.device)
    coordinates, held = pattern.coordinates_at(slots)
    if pattern.has_padding:
        coordinates, slots = coordinates[:, held], slots[held]
    places = order_of(coordinates, shape, range(len(shape)))
    if places is not None:
        coordinates, slots = coordinates.index_select(1, places), slots.index_select(0, places)
    rows = torch.zeros_like(slots)
    for coordinate, size in zip(coordinates[:-1], shape[:-1], strict=True):
        rows = rows * size + coordinate
    count = math.prod(shape[:-1])
    # Equal values stay in the order of coordinates.
    order = _order_in_rows(rows, count, values.index_select(0, slots), descending)
    pos = positions(rows, count, torch.int64)
    return [slots.index_select(0, order), coordinates[-1].index_select(0, order), pos]


def _order_in_rows(rows: Tensor, count: int, values: Tensor, descending: bool) -> Tensor:
    """The places of the entries, sorted by row and by value; rows ascend."""
    if values.element_size() > 4 or count > _MOST_ROWS:
        order = values.argsort(stable=True, descending=descending)
        return order.index_select(0, rows[order].argsort(stable=True))
    numbers = _numbers_in_order(values)
    return ((rows << 32) + (~numbers if descending else numbers)).argsort(stable=True)


_MOST_ROWS = 2**30


def _numbers_in_order(values: Tensor) -> Tensor:
    """Integers of 32 bits, as int64, in the order of values of at most 32 bits. As for torch, NaN
    is the largest value, and both zeros are equal."""
    if not values.is_floating_point():
        return values.to(torch.int64)
    wide = values.to(torch.float32) + 0.0  # -0 becomes 0
    bits = wide.where(~wide.isnan(), torch.nan).view(torch.int32)
    # The order of negative numbers is the reverse of that of their bits.
    return torch.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(torch.int64)


def sort(input: SparseTensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The stored entries of each row in order, and their coordinates. Both results are ragged: the
    n entries of a row are the first n elements of that row."""
    values, indices = _sort(input, dim, descending)
    return torch.return_types.sort((values, indices))


@recorded
def _sort(input: SparseTensor, dim: int, descending: bool) -> tuple[SparseTensor, SparseTensor]:
    order = _dimension_last("sort", input, dim)
    found = _sorted_rows(merged(input).permute(*order), descending)
    shape = tuple(input._pattern.shape[d] for d in order)
    rank = len(shape)
    pos = found.pos.to(input.index_dtype)
    if rank > 1:
        pattern = Pattern(Format("ragged", rank), shape, (pos,), input.index_dtype)
    else:  # a vector is no row of another level
        places = torch.arange(found.values.shape[0], dtype=pos.dtype, device=pos.device)
        vector = Format("(i) -> (i: compressed)")
        pattern = Pattern(vector, shape, (pos, places), input.index_dtype)
    back = [order.index(d) for d in range(rank)]
    values = SparseTensor(pattern, found.values).permute(*back)
    indices = SparseTensor(pattern, found.coordinates).permute(*back)
    return values, indices


def argsort(
    input: SparseTensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> Any:
    """The second result of `sort`."""
    return _sort(input, dim, descending)[1]


def topk(
    input: SparseTensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """The k largest (or smallest) stored entries of each row, and their coordinates, as dense
    tensors. Where a row has fewer entries, the value is the lowest (or highest) of its type and the
    coordinate is -1."""
    values, indices = _topk(input, k, dim, largest)
    return torch.return_types.topk((values, indices))


@recorded
def _topk(input: SparseTensor, k: int, dim: int, largest: bool) -> tuple[Tensor, Tensor]:
    order = _dimension_last("topk", input, dim)
    size = input._pattern.shape[order[-1]]
    if not 0 <= k <= size:
        raise UserError(f"topk: k must be from 0 to {size}, the size of the dimension, not {k}.")
    found = _sorted_rows(merged(input).permute(*order), largest)
    shape = (*(input._pattern.shape[d] for d in order[:-1]), k)
    places = found.pos[:-1, None] + torch.arange(k, device=found.pos.device)
    is_held = places < found.pos[1:, None]
    # Every place that no entry has is that of an element without a value.
    places = torch.where(is_held, places, found.values.shape[0])
    worst = found.values.new_full((1,), _worst(input.dtype, largest))
    values = torch.cat([found.values, worst])[places]
    indices = torch.cat([found.coordinates, found.coordinates.new_full((1,), -1)])[places]
    return (
        values.reshape(shape).movedim(-1, order[-1]),
        indices.reshape(shape).movedim(-1, order[-1]),
    )


def _worst(dtype: torch.dtype, largest: bool) -> float | int | bool:
    """The value of no entry."""
    if dtype == torch.bool:
        return not largest
    if dtype.is_floating_point:
        return -torch.inf if largest else torch.inf
    limits = torch.iinfo(dtype)
    return limits.min if largest else limits.max


def _dimension_last(name: str, tensor: SparseTensor, dim: int) -> list[int]:
    """The dimensions in the order that has `dim` last."""
    if tensor.ndim == 0:
        raise UserError(f"{name}: expected a tensor with dimensions, but found a scalar.")
    wanted = dimension_of(name, dim, tensor.ndim)
    return [*(d for d in range(tensor.ndim) if d != wanted), wanted]
