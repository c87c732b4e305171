"""Sparse tensors of raw storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from tulle.interchange.arrays import as_dense
from tulle.interchange.structure import checked
from tulle.library import dtypes
from tulle.support.arguments import shape_of
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.own_memory import sharing
from tulle.tensors.sparse_tensor import SparseTensor


def from_levels(
    format: str | Format,
    shape: Sequence[int],
    levels: Sequence[Mapping[str, Any]],
    values: Any,
    *,
    copy: bool | None = None,
) -> SparseTensor:
    """A sparse tensor of raw storage, which is checked.

    `levels` has a dict for each level with the arrays that the level stores: `pos` and `crd`,
    `bits` for bitmaps, nothing for dense levels and ranges. `values` are in storage order.

    Arrays of torch are not copied unless PyTorch does not count all writes to them: arrays of
    NumPy, in memory of a file or of another process. With `copy=False` such structure is shared,
    too, and the caller must not write to it. With `copy=True` everything is copied.
    """
    with sharing(copy is False):
        result = _from_levels(format, shape, levels, values)
    return deepcopy(result) if copy else result


def _from_levels(
    format: str | Format,
    shape: Sequence[int],
    levels: Sequence[Mapping[str, Any]],
    values: Any,
) -> SparseTensor:
    known = Format(format)
    sizes = shape_of("from_levels", shape)
    known = known.of_rank(len(sizes))
    if isinstance(levels, (Mapping, str)) or not all(isinstance(one, Mapping) for one in levels):
        raise UserError(
            "from_levels: levels is a list with a dict for each level, outermost first, as "
            "[{}, {'pos': pos, 'crd': crd}] for csr; give the arrays in that form."
        )
    if known.is_dense:
        raise UserError("from_levels: a dense tensor has no structure; use an ordinary tensor.")
    if len(levels) != len(known.levels):
        raise UserError(
            f"from_levels: the format {known.long_form} has {len(known.levels)} levels, but "
            f"{len(levels)} were given; give an empty dict for a level that stores nothing."
        )
    arrays: list[Tensor] = []
    for at, (level, given) in enumerate(zip(known.levels, levels, strict=True)):
        stored = level.arrays
        if sorted(given) != sorted(stored):
            raise UserError(
                f"from_levels: level {at} of {known.long_form} stores "
                f"{' and '.join(stored) or 'nothing'}, but {sorted(given) or 'nothing'} was given."
            )
        arrays += [_as_vector(f"{name} of level {at}", given[name]) for name in stored]
    return checked("from_levels", known, sizes, arrays, _as_vector("values", values))


def _as_vector(name: str, data: Any) -> Tensor:
    vector = data if isinstance(data, Tensor) else as_dense(name, data)
    if vector.layout != torch.strided or vector.ndim != 1:
        raise UserError(f"{name}: expected a vector, but found the shape {list(vector.shape)}.")
    return (
        vector.detach().contiguous() if vector.dtype in dtypes.INDEX_DTYPES else vector.contiguous()
    )
