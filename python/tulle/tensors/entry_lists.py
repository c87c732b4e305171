"""Sparse tensors of lists of entries: coordinates in any order, and their values.

The coordinates come from Tulle, so nothing is checked. `tulle.interchange` checks the coordinates
that callers pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tulle.library import dtypes
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.held_structure import hold_in_advance
from tulle.tensors.own_memory import is_plain
from tulle.tensors.pattern import Pattern
from tulle.tensors.stored_tensor import StoredTensor

if TYPE_CHECKING:
    from typing import TypeVar

    Tensors = TypeVar("Tensors", bound=StoredTensor)


def from_entries(
    make: type[Tensors],
    format: str | Format,
    shape: tuple[int, ...],
    coordinates: Tensor,
    values: Tensor,
    index_dtype: torch.dtype | None = None,
    *,
    is_sorted: bool = False,
) -> Tensors:
    """The tensor of these entries, [rank, n] and [n], in this format. Entries at one coordinate are
    summed. `is_sorted` says that the coordinates are in ascending order and distinct. Without
    `index_dtype`, positions and coordinates have the smallest type that holds them."""
    rank, count = len(shape), coordinates.shape[1]
    index_dtype = index_dtype or dtypes.smallest_index_dtype(shape, count)
    pos = bounds(count, index_dtype, values.device)
    # Copies, because a row of a matrix may be misaligned for the vector loads of a GPU.
    arrays = (pos, *(row.to(index_dtype, copy=True).contiguous() for row in coordinates))
    stored = Format("coo", rank) if is_sorted else unordered_coo(rank)
    found = make(Pattern(stored, shape, arrays, index_dtype), values.contiguous())
    result: Tensors = found.to(format=Format(format).of_rank(rank))  # type: ignore[attr-defined]
    if is_plain(values):
        hold_in_advance(result._pattern)
    return result


def bounds(count: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The positions of the only row of `coo`: 0 and the number of entries."""
    if isinstance(count, torch.SymInt):
        return torch.arange(2, dtype=dtype, device=device) * count
    return torch.tensor([0, count], dtype=dtype, device=device)


def unordered_coo(rank: int) -> Format:
    """The format of coordinates in any order, in which coordinates may repeat."""
    names = [f"i{n}" for n in range(rank)]
    kinds = ["compressed"] + ["singleton"] * (rank - 1)
    levels = [
        f"{name}: {kind} nonunique unordered" for name, kind in zip(names, kinds, strict=True)
    ]
    return Format(f"({','.join(names)}) -> ({', '.join(levels)})")


def empty_tensor(like: Tensors, shape: tuple[int, ...]) -> Tensors:
    """A tensor without entries in the format of another tensor, or in coo if that format does not
    fit the rank. The types and the device are those of the other tensor."""
    values = like.values().new_empty(0)
    none = torch.empty(len(shape), 0, dtype=like.index_dtype, device=like.device)
    format = of_rank(like.format, len(shape))
    make = type(like)
    return from_entries(make, format, shape, none, values, like.index_dtype, is_sorted=True)


def of_rank(format: Format, rank: int) -> Format:
    """The format that has the same name at another rank; coo if there is none."""
    if format.rank == rank:
        return format
    try:
        return Format(str(format), rank)
    except UserError:
        return Format("coo", rank)
