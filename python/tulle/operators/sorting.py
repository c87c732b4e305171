"""Sorting along a dimension, over stored entries, and the entries in row-major order."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from tulle.operators.alignment import with_single_entries
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


class _Sorted(NamedTuple):
    """The entries of a tensor whose last dimension is sorted."""

    values: Tensor
    coordinates: Tensor  # along the last dimension
    rows: Tensor  # the number of the row of each entry, ascending
    pos: Tensor  # where the entries of each row begin; one number more than rows


def _sorted_rows(tensor: SparseTensor, descending: bool) -> _Sorted:
    coordinates, values = with_single_entries(tensor).entries()
    rows = torch.zeros_like(coordinates[0])
    for coordinate, size in zip(coordinates[:-1], tensor.shape[:-1], strict=True):
        rows = rows * size + coordinate
    # Stable sorts by coordinate, by value and by row: equal values stay in the order of columns.
    order = coordinates[-1].argsort(stable=True)
    order = order[values.detach()[order].argsort(stable=True, descending=descending)]
    order = order[rows[order].argsort(stable=True)]
    rows = rows[order]
    count = tensor.shape[:-1].numel()
    pos = torch.searchsorted(rows, torch.arange(count + 1, device=rows.device))
    return _Sorted(values[order], coordinates[-1][order], rows, pos)


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


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The coordinates of the elements that are not 0, in row-major order."""
    coordinates, values = with_single_entries(input.detach()).entries()
    coordinates = coordinates[:, values != 0].long()
    order = torch.arange(coordinates.shape[1], device=coordinates.device)
    for row in reversed(coordinates):
        order = order[row[order].argsort(stable=True)]
    coordinates = coordinates[:, order]
    return tuple(coordinates) if as_tuple else coordinates.T.contiguous()
