"""From one format to another: programs that copy, generated like any other."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.library import devices, dtypes
from tulle.programs.execution import Program, Result, execute_one
from tulle.programs.operands import index_names
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors import composites
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor


def _copied(source: SparseTensor, format: Format) -> Result:
    indices = ",".join(index_names(source.ndim))
    text = f"T[{indices}] = A[{indices}]"
    return execute_one(Program(text, out_formats=(("T", str(format)),)), ["A"], [source])


def placed(
    source: SparseTensor, targets: tuple[Any, ...], device: Any, dtype: Any
) -> tuple[torch.device, torch.dtype]:
    """The device and the type that `to` is asked for; `targets` are either of them or both, or a
    tensor that has them, as in torch."""
    for target in targets:
        if isinstance(target, Tensor | SparseTensor):
            device, dtype = target.device, target.dtype
        elif isinstance(target, torch.dtype):
            dtype = target
        elif target is not None:
            device = target
    dtype = source.dtype if dtype is None else dtype
    if not isinstance(dtype, torch.dtype):
        raise UserError(f"to: expected a type such as torch.float64, but found {dtype!r}.")
    try:
        return torch.device(source.device if device is None else device), dtype
    except (RuntimeError, TypeError):
        raise UserError(
            f"to: {device!r} is neither a device nor a type. "
            'For another format write to(format="csr").'
        ) from None


def converted(
    source: SparseTensor, format: str | Format | None, device: torch.device, dtype: torch.dtype
) -> SparseTensor | Tensor:
    """The tensor in another format, with values of another type, on another device."""
    if device != source.device:
        source = moved(source, device)
    if dtype != source.dtype:
        dtypes.name_of(dtype)
        source = SparseTensor(source.pattern, source.values().to(dtype))
    if format is None:
        return source
    wanted = Format(format).of_rank(source.ndim)
    if wanted == source.format:
        return source
    return composites.built(source, wanted) if wanted.is_composite else _copied(source, wanted)


def moved(source: SparseTensor, device: torch.device) -> SparseTensor:
    """The same tensor on another device."""
    devices.check_there(device)
    source.pattern.check_unchanged()
    values = source.values().to(device)
    if values.device == source.device:  # "cuda" is the current one of them
        return source
    pattern = source.pattern
    arrays = [array.to(device) for array in pattern.arrays]
    return SparseTensor(pattern.with_arrays(arrays, pattern.index_dtype), values)


def to_dense(source: SparseTensor) -> Tensor:
    """An ordinary tensor."""
    result: Tensor = _copied(source, Format("dense", source.ndim))
    return result


def with_index_dtype(source: SparseTensor, dtype: torch.dtype) -> SparseTensor:
    """The same tensor with positions and coordinates of another type."""
    pattern = source.pattern
    if dtype == pattern.index_dtype:
        return source
    largest = max(source.values().numel(), *pattern.shape)
    if dtype == torch.int32 and largest >= 2**31:
        raise UserError(f"int32 cannot count to {largest}; leave index_dtype out, or use int64.")
    arrays = [array if array.dtype == torch.bool else array.to(dtype) for array in pattern.arrays]
    return SparseTensor(pattern.with_arrays(arrays, dtype), source.values())


def permuted(source: SparseTensor, order: tuple[int, ...]) -> Any:
    """The same storage, its dimensions in another order; a tensor of torch where that is dense."""
    rank = source.ndim
    wanted = tuple(dimension_of("permute", d, rank) for d in order)
    if sorted(wanted) != list(range(rank)):
        raise UserError(f"permute: {order} does not name each of {rank} dimensions once.")
    pattern = source.pattern.permuted(wanted)
    if pattern.format == Format("dense", rank):
        return source.values().view(pattern.shape)
    return SparseTensor(pattern, source.values())
