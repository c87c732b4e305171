"""Patterns of structure that comes from outside, checked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from tulle.library import devices, dtypes
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.held_structure import check_rank, hold_in_advance
from tulle.tensors.own_memory import owned
from tulle.tensors.pattern import Pattern

GPU_ALIGNMENT = 16  # bytes


def checked_pattern(
    name: str,
    format: Format,
    shape: tuple[int, ...],
    arrays: Sequence[Tensor],
    values: Tensor,
    index_dtype: torch.dtype | None = None,
) -> Pattern:
    """The pattern of these arrays. Raises UserError if the structure is invalid or does not fit the
    values; messages call the tensor `name`."""
    pattern = unchecked_pattern(format, shape, arrays, values, index_dtype)
    pattern.validate(name, values)
    hold_in_advance(pattern)
    return pattern


def unchecked_pattern(
    format: Format,
    shape: tuple[int, ...],
    arrays: Sequence[Tensor],
    values: Tensor,
    index_dtype: torch.dtype | None = None,
) -> Pattern:
    """The pattern of these arrays. All positions and coordinates get one type: `index_dtype`, or
    without it the widest type of the arrays. Arrays whose writers PyTorch does not see are copied;
    so are arrays that share memory with the values or with each other."""
    check_rank("The tensor", format, shape)
    names = [name for level in format.levels for name in level.arrays]
    if len(arrays) != len(names):
        raise UserError(
            f"The levels of the format {format} store {len(names)} arrays, but {len(arrays)} were "
            "given."
        )
    for array in (*arrays, values):
        if array.layout != torch.strided:
            raise UserError(f"Expected dense tensors, but found one of the layout {array.layout}.")
        devices.check("The tensor", array.device)
    indices = [array for name, array in zip(names, arrays, strict=True) if name != "bits"]
    index_dtype = index_dtype or _common_index_dtype(indices)
    types = [torch.bool if name == "bits" else index_dtype for name in names]
    typed = [_aligned(array.to(type)) for array, type in zip(arrays, types, strict=True)]
    return Pattern(format, shape, owned(typed, values), index_dtype)


def _aligned(array: Tensor) -> Tensor:
    """The array, copied if it is on a GPU and not aligned for vector loads. The columns of a dense
    matrix that torch finds may be such arrays."""
    if array.is_cuda and type(array) is Tensor and array.data_ptr() % GPU_ALIGNMENT:
        return array.clone()
    return array


def _common_index_dtype(arrays: Sequence[Tensor]) -> torch.dtype:
    for array in arrays:
        if array.dtype not in dtypes.INDEX_DTYPES:
            raise UserError(f"Positions and coordinates are int32 or int64, not {array.dtype}.")
    is_narrow = bool(arrays) and all(array.dtype == torch.int32 for array in arrays)
    return torch.int32 if is_narrow else torch.int64
