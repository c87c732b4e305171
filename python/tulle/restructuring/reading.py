"""The entries of a tensor, also in graphs of torch.compile, where `StoredTensor` cannot read
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.library import get_ctx

from tulle.library import dtypes
from tulle.restructuring.graph_operators import graph_operator
from tulle.tensors.composite_pattern import CompositePattern
from tulle.tensors.graph_boundary import pattern_of, recorded
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


@recorded
def entries(source: SparseTensor) -> tuple[Tensor, Tensor]:
    """The coordinates of the entries, [rank, nnz], and their values, in storage order."""
    values = source._values
    coordinates, places = _entries(*structure_of(source))
    if not source._pattern.has_padding:
        return coordinates, values
    return coordinates, values[places]


@recorded
def count_entries(source: SparseTensor) -> int:
    """The number of entries."""
    if not source._pattern.has_padding:
        return source._values.shape[0]
    return _entries(*structure_of(source))[1].shape[0]


@recorded
def has_padding(source: SparseTensor) -> bool:
    """Whether there may be slots that are no entries."""
    return source._pattern.has_padding


def structure_of(source: SparseTensor) -> tuple[Any, ...]:
    """The structure as an operator takes it: the text of the format, the index type, the sizes, the
    sizes of parts, the arrays, and a tensor of which only the number of elements and the device
    matter."""
    pattern = source._pattern
    counts = pattern.counts if isinstance(pattern, CompositePattern) else ()
    index = dtypes.name_of(pattern.index_dtype)
    return (
        pattern._format_text,
        index,
        tuple(pattern.shape),
        counts,
        tuple(pattern.arrays),
        source._values.detach(),
    )


def restored_structure(
    text: str, index: str, shape: Sequence[int], counts: Sequence[int], arrays: Sequence[Tensor]
) -> Pattern:
    """The pattern with that structure."""
    return pattern_of(text, tuple(shape), tuple(arrays), dtypes.BY_NAME[index], tuple(counts))


def count_without_memory(*structure: Any) -> int:
    """The number of entries of a structure whose arrays have no memory."""
    *parts, values = structure
    if not restored_structure(*parts).has_padding:
        count: int = values.shape[0]
        return count
    return get_ctx().new_dynamic_size()


def _entries_without_memory(*structure: Any) -> list[Tensor]:
    shape, values = structure[2], structure[-1]
    count = count_without_memory(*structure)
    return [
        values.new_empty((len(shape), count), dtype=torch.int64),
        values.new_empty(count, dtype=torch.int64),
    ]


@graph_operator(_entries_without_memory)
def _entries(*structure: Any) -> list[Tensor]:
    """The coordinates and the slots of the entries."""
    *parts, values = structure
    pattern = restored_structure(*parts)
    slots = torch.arange(values.shape[0], device=values.device)
    coordinates, held = pattern.coordinates_at(slots)
    if not pattern.has_padding:
        return [coordinates, slots]
    return [coordinates[:, held], slots[held]]
