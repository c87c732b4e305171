"""From one format to another: programs that copy, generated like any other."""

from __future__ import annotations

import torch
from torch import Tensor

from tulle.errors import UserError
from tulle.formats import Format
from tulle.operands import index_names
from tulle.pattern import Pattern
from tulle.programs import Program, Result, execute_one
from tulle.sparse_tensor import SparseTensor


def _copied(source: SparseTensor, format: Format) -> Result:
    indices = ",".join(index_names(source.ndim))
    text = f"T[{indices}] = A[{indices}]"
    return execute_one(Program(text, out_formats=(("T", str(format)),)), ["A"], [source])


def converted(
    source: SparseTensor, format: str | Format | None, dtype: torch.dtype | None
) -> SparseTensor | Tensor:
    """The tensor in another format, with values of another type."""
    if dtype is not None and dtype != source.dtype:
        source = SparseTensor(source.pattern, source.values().to(dtype))
    if format is None:
        return source
    wanted = Format(format).of_rank(source.ndim)
    return source if wanted == source.format else _copied(source, wanted)


def to_dense(source: SparseTensor) -> Tensor:
    """An ordinary tensor."""
    result: Tensor = _copied(source, Format("dense", source.ndim))
    return result


def with_index_dtype(source: SparseTensor, dtype: torch.dtype) -> SparseTensor:
    """The same tensor with positions and coordinates of another type."""
    pattern = source.pattern
    if dtype == pattern.index_dtype:
        return source
    largest = max(source.nnz, *pattern.shape)
    if dtype == torch.int32 and largest >= 2**31:
        raise UserError(f"int32 cannot count to {largest}; leave index_dtype out, or use int64.")
    arrays = tuple(array.to(dtype) for array in pattern.arrays)
    return SparseTensor(Pattern(pattern.format, pattern.shape, arrays, dtype), source.values())


def permuted(source: SparseTensor, order: tuple[int, ...]) -> SparseTensor:
    """The same storage, its dimensions in another order."""
    rank = source.ndim
    wanted = tuple(d + rank if d < 0 else d for d in order)
    if sorted(wanted) != list(range(rank)):
        raise UserError(f"permute: {order} does not name each of {rank} dimensions once.")
    pattern = source.pattern
    return SparseTensor(
        Pattern(
            pattern.format.permuted(wanted),
            tuple(pattern.shape[d] for d in wanted),
            pattern.arrays,
            pattern.index_dtype,
        ),
        source.values(),
    )
