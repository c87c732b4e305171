"""Sorting along a dimension, over stored entries."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from tulle.operators.alignment import with_single_entries
from tulle.restructuring.level_storage import order_of, positions
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


class _Sorted(NamedTuple):
    """The entries of a tensor whose last dimension is sorted."""

    values: Tensor
    coordinates: Tensor  # along the last dimension
    pos: Tensor  # where the entries of each row begin; one number more than rows


def _sorted_rows(tensor: SparseTensor, descending: bool) -> _Sorted:
    coordinates, values = with_single_entries(tensor).entries()
    # Equal values stay in the order of coordinates.
    places = order_of(coordinates, tensor.shape, range(tensor.ndim))
    if places is not None:
        coordinates, values = coordinates.index_select(1, places), values.index_select(0, places)
    rows = torch.zeros_like(coordinates[0])
    for coordinate, size in zip(coordinates[:-1], tensor.shape[:-1], strict=True):
        rows = rows * size + coordinate
    count = tensor.shape[:-1].numel()
    order = _order_in_rows(rows, count, values.detach(), descending)
    pos = positions(rows, count, torch.int64)
    return _Sorted(values.index_select(0, order), coordinates[-1].index_select(0, order), pos)


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
    order = _dimension_last("sort", input, dim)
    found = _sorted_rows(input.permute(*order), descending)
    shape = tuple(input.shape[d] for d in order)
    rank = len(shape)
    pos = found.pos.to(input.index_dtype)
    if rank > 1:
        pattern = Pattern(Format("ragged", rank), shape, (pos,), input.index_dtype)
    else:  # a vector is no row of another level
        places = torch.arange(found.values.numel(), dtype=pos.dtype, device=pos.device)
        vector = Format("(i) -> (i: compressed)")
        pattern = Pattern(vector, shape, (pos, places), input.index_dtype)
    back = [order.index(d) for d in range(rank)]
    values = SparseTensor(pattern, found.values).permute(*back)
    indices = SparseTensor(pattern, found.coordinates).permute(*back)
    return torch.return_types.sort((values, indices))


def argsort(
    input: SparseTensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> Any:
    """The second result of `sort`."""
    return sort(input, dim, descending)[1]


def topk(
    input: SparseTensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """The k largest (or smallest) stored entries of each row, and their coordinates, as dense
    tensors. Where a row has fewer entries, the value is the lowest (or highest) of its type and the
    coordinate is -1."""
    order = _dimension_last("topk", input, dim)
    size = input.shape[order[-1]]
    if not 0 <= k <= size:
        raise UserError(f"topk: k must be from 0 to {size}, the size of the dimension, not {k}.")
    found = _sorted_rows(input.permute(*order), largest)
    shape = (*(input.shape[d] for d in order[:-1]), k)
    places = found.pos[:-1, None] + torch.arange(k, device=found.pos.device)
    is_held = places < found.pos[1:, None]
    if found.values.numel():
        places = places.clamp(max=found.values.numel() - 1)
        values = torch.where(is_held, found.values[places], _worst(input.dtype, largest))
        indices = torch.where(is_held, found.coordinates[places], -1)
    else:
        values = torch.full(
            is_held.shape, _worst(input.dtype, largest), dtype=input.dtype, device=input.device
        )
        indices = torch.full_like(places, -1)
    results = (values, indices)
    return torch.return_types.topk(
        tuple(one.reshape(shape).movedim(-1, order[-1]) for one in results)
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
