"""Diagonals and triangles."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.restructuring.changes import change, changed
from tulle.restructuring.entries import Entries, Source, merged
from tulle.restructuring.result_formats import Origin, default_format, result_format
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor


@recorded
def diagonal(source: SparseTensor, offset: int, dim1: int, dim2: int) -> SparseTensor:
    """The elements on a diagonal of two dimensions, as the last dimension."""
    first = dimension_of("diagonal", dim1, source.ndim)
    second = dimension_of("diagonal", dim2, source.ndim)
    if first == second:
        raise UserError(f"diagonal: the dimensions {dim1} and {dim2} are the same.")
    sizes = source._pattern.shape
    rows, columns = sizes[first], sizes[second]
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    shape = [*(size for d, size in enumerate(sizes) if d not in (first, second)), length]
    format = default_format(source.format, len(shape))
    return changed("diagonal", [merged(source)], (offset, first, second), format, shape)


@change
def _diagonal(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries:
    offset, first, second = parameters
    entries = sources[0].entries()
    rows = entries.coordinates
    found = entries.where(rows[second] - rows[first] == offset)
    rest = [d for d in range(rows.shape[0]) if d not in (first, second)]
    along = first if offset >= 0 else second
    return Entries(found.coordinates[[*rest, along]], found.numbers)


@recorded
def embedded_diagonal(source: SparseTensor, offset: int) -> SparseTensor:
    """Matrices that have the last dimension on a diagonal."""
    size = source._pattern.shape[-1] + abs(offset)
    shape = [*source._pattern.shape[:-1], size, size]
    # A vector has no level that a matrix could keep.
    is_vector = source.ndim == 1
    format = Format("csr", 2) if is_vector else default_format(source.format, len(shape))
    return changed("embed_diagonal", [merged(source)], offset, format, shape)


@change
def _embed_diagonal(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries:
    entries = sources[0].entries()
    last = entries.coordinates[-1]
    rows, columns = last + max(0, -parameters), last + max(0, parameters)
    coordinates = torch.cat([entries.coordinates[:-1], torch.stack([rows, columns])])
    return Entries(coordinates, entries.numbers)


@recorded
def triangle(source: SparseTensor, diagonal: int, is_lower: bool) -> SparseTensor:
    """The elements on one side of a diagonal of the last two dimensions, with the diagonal."""
    if source.ndim < 2:
        raise UserError(
            f"{'tril' if is_lower else 'triu'}: expected a matrix or matrices, but found rank "
            f"{source.ndim}."
        )
    format = result_format(source.format, [Origin(d) for d in range(source.ndim)])
    shape = source._pattern.shape
    return changed("triangle", [merged(source)], (diagonal, is_lower), format, shape)


@change
def _triangle(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries:
    diagonal, is_lower = parameters
    entries = sources[0].entries()
    offsets = entries.coordinates[-1] - entries.coordinates[-2]
    return entries.where(offsets <= diagonal if is_lower else offsets >= diagonal)


def trace(source: SparseTensor) -> Tensor:
    """The sum of the diagonal of a matrix. Integers are summed as int64, as in torch."""
    if source.ndim != 2:
        raise UserError(f"trace: expected a matrix, but found rank {source.ndim}.")
    return diagonal(source, 0, 0, 1).values().sum()
