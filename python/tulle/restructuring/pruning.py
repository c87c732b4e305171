"""`prune`: the entries that remain."""

from __future__ import annotations

from typing import Any

import torch

from tulle.restructuring.changes import change, changed
from tulle.restructuring.entries import Entries, Source, merged
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor


@recorded
def pruned(source: SparseTensor, threshold: float) -> SparseTensor:
    """The tensor without the entries whose absolute value is at most `threshold`."""
    whole = merged(source)
    values = whole.values().detach()
    if threshold == 0 or values.dtype == torch.bool:
        kept = values != 0
    else:
        kept = ~(values.abs() <= threshold)  # NaN stays
    return changed("prune", [whole], (kept,), source.format, source._pattern.shape)


@change
def _prune(
    sources: list[Source], parameters: Any, format: Format, shape: tuple[int, ...]
) -> Entries:
    [source], [kept] = sources, parameters
    entries = source.entries()
    return entries.where(kept[entries.numbers])
