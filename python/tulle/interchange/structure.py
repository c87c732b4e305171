"""Sparse tensors of structure that comes from outside: checked, and sorted where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.library import dtypes
from tulle.support.errors import UserError
from tulle.tensors import composites
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern, living_pattern
from tulle.tensors.sparse_tensor import SparseTensor

GPU_ALIGNMENT = 16  # bytes


def checked(
    name: str,
    format: Format,
    shape: tuple[int, ...],
    arrays: Sequence[Tensor],
    values: Tensor,
    index_dtype: torch.dtype | None = None,
) -> SparseTensor:
    """The tensor, if its structure is valid; UserError otherwise."""
    pattern = _pattern_of(format, shape, arrays, index_dtype)
    pattern.validate(name, values)
    return SparseTensor(pattern, values)


def _pattern_of(
    format: Format,
    shape: tuple[int, ...],
    arrays: Sequence[Tensor],
    index_dtype: torch.dtype | None = None,
) -> Pattern:
    """Unchecked structure; positions and coordinates get one type, that of the arrays if none is
    given."""
    names = [name for level in format.levels for name in level.arrays]
    indices = [array for name, array in zip(names, arrays, strict=True) if name != "bits"]
    index_dtype = index_dtype or _common_index_dtype(indices)
    types = [torch.bool if name == "bits" else index_dtype for name in names]
    typed = tuple(_aligned(array.to(type)) for array, type in zip(arrays, types, strict=True))
    return Pattern(format, shape, typed, index_dtype)


def _aligned(array: Tensor) -> Tensor:
    """On a GPU a copy of an array that begins in the middle of what is loaded at once, as the
    columns that torch finds in a dense matrix may."""
    if array.is_cuda and type(array) is Tensor and array.data_ptr() % GPU_ALIGNMENT:
        return array.clone()
    return array


def in_order(
    name: str,
    formats: tuple[Format, Format],
    shape: tuple[int, ...],
    arrays: Sequence[Tensor],
    values: Tensor,
) -> SparseTensor:
    """The tensor in the first of two formats that differ in the order that they ask for: as it came
    where it is in order, else sorted, and duplicates summed, from the second one."""
    ordered, loose = formats
    pattern = _pattern_of(ordered, shape, arrays)
    if pattern.is_in_order(name, values):
        return SparseTensor(pattern, values)
    result: SparseTensor = checked(name, loose, shape, arrays, values).to(format=ordered)
    return result


def restored(
    format: str,
    shape: tuple[int, ...],
    arrays: tuple[Tensor, ...],
    values: Tensor,
    index_dtype: torch.dtype | None = None,
) -> SparseTensor:
    """What was pickled; structure from a file is not trusted."""
    known = Format(format, len(shape))
    shows_type = any(array.dtype != torch.bool for array in arrays)  # bits do not
    given = None if shows_type or index_dtype not in dtypes.INDEX_DTYPES else index_dtype
    return checked("the pickled tensor", known, shape, arrays, values, given)


def reassembled(
    format: str,
    numbers: tuple[int, ...],
    index_dtype: torch.dtype,
    arrays: tuple[Any, ...],
    values: Any,
) -> SparseTensor:
    """The tensor of pieces that were taken from one, `numbers` being its pattern's. Structure that
    is not the very same is checked, if it is there: trees are also put together around other things
    than tensors."""
    if Format(format).is_composite:
        whole = composites.reassembled(format, numbers, index_dtype, arrays)
        return SparseTensor(whole, values)
    shape = numbers
    known = Format(format, len(shape))
    pattern = living_pattern(known, shape, arrays)
    if pattern is None:
        pattern = Pattern(known, shape, arrays, index_dtype)
        if all(type(part) is Tensor and part.device.type == "cpu" for part in (*arrays, values)):
            pattern.validate("the reassembled tensor", values)
    return SparseTensor(pattern, values)


def _common_index_dtype(arrays: Sequence[Tensor]) -> torch.dtype:
    """Positions and coordinates share one type: the widest that is there."""
    for array in arrays:
        if array.dtype not in dtypes.INDEX_DTYPES:
            raise UserError(f"Positions and coordinates are int32 or int64, not {array.dtype}.")
    is_narrow = bool(arrays) and all(array.dtype == torch.int32 for array in arrays)
    return torch.int32 if is_narrow else torch.int64


def compressed_format(
    batches: int, by_rows: bool, block: tuple[int, ...] | None, dense: int
) -> Format:
    """Batches, then compressed rows or columns, then the block, then dense dimensions."""
    above = [f"b{n}" for n in range(batches)]
    below = [f"d{n}" for n in range(dense)]
    outer, inner = ("i", "j") if by_rows else ("j", "i")
    middle = [f"{outer}: dense", f"{inner}: compressed"]
    if block is not None:
        size = {"i": block[0], "j": block[1]}
        middle = [
            f"{outer}/{size[outer]}: dense",
            f"{inner}/{size[inner]}: compressed",
            f"i%{size['i']}: dense",
            f"j%{size['j']}: dense",
        ]
    levels = [*(f"{b}: dense" for b in above), *middle, *(f"{d}: dense" for d in below)]
    return Format(f"({','.join([*above, 'i', 'j', *below])}) -> ({', '.join(levels)})")


def from_coordinates(
    shape: tuple[int, ...], arrays: list[Tensor], values: Tensor, dense: int = 0
) -> SparseTensor:
    """COO from positions and the coordinates of each sparse dimension; sorted, and duplicates
    summed, where that has not been done."""
    names = [f"i{n}" for n in range(len(shape))]
    sparse = names[: len(shape) - dense]
    below = "".join(f", {name}: dense" for name in names[len(sparse) :])

    def format(first: str, others: str, last: str) -> Format:
        properties = [first, *([others] * (len(sparse) - 2)), last][-len(sparse) :]
        kinds = ["compressed"] + ["singleton"] * (len(sparse) - 1)
        levels = [
            f"{n}: {kind} {how}" for n, kind, how in zip(sparse, kinds, properties, strict=True)
        ]
        return Format(f"({','.join(names)}) -> ({', '.join(levels)}{below})")

    ordered = format("nonunique", "nonunique", "unique")
    loose = format(*["nonunique unordered"] * 3)
    return in_order("the COO tensor", (ordered, loose), shape, arrays, values.reshape(-1))
