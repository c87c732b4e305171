"""Batches of sparse tensors, as torch's data loaders make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data._utils.collate import default_collate_fn_map

from tulle.support.errors import UserError
from tulle.tensors.entry_lists import from_entries, of_rank
from tulle.tensors.sparse_tensor import SparseTensor


def register() -> None:
    """Makes torch's `default_collate` stack sparse tensors."""
    default_collate_fn_map[SparseTensor] = _collate


def _collate(batch: Sequence[SparseTensor], *, collate_fn_map: Any = None) -> SparseTensor:
    return stacked(batch)


def stacked(tensors: Sequence[SparseTensor]) -> SparseTensor:
    """The tensors, which have one shape, along a new first dimension. They may have different
    numbers of entries. The result has the format of the first, with a dense batch level in front,
    or csf if that format exists for matrices only."""
    first = tensors[0]
    for other in tensors:
        if other.shape != first.shape or other.dtype != first.dtype:
            raise UserError(
                f"default_collate: a batch has tensors of one shape and type, but found "
                f"{list(first.shape)} {first.dtype} and {list(other.shape)} {other.dtype}. Give "
                "the data loader collate_fn=list for a list of tensors."
            )
    found = [tensor.entries() for tensor in tensors]
    counts = torch.tensor([values.numel() for _, values in found], device=first.device)
    members = torch.repeat_interleave(counts)
    coordinates = torch.cat([coordinates for coordinates, _ in found], dim=1)
    rank = first.ndim + 1
    format = of_rank(first.format, rank)
    return from_entries(
        SparseTensor,
        "csf" if str(format) == "coo" and str(first.format) != "coo" else format,
        (len(tensors), *first.shape),
        torch.cat([members[None], coordinates]),
        torch.cat([values for _, values in found]),
        max((tensor.index_dtype for tensor in tensors), key=lambda dtype: dtype.itemsize),
    )
