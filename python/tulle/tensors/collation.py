"""Batches of sparse tensors, as torch's data loaders make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch.utils.data._utils.collate import default_collate_fn_map

from tulle.support.errors import UserError
from tulle.tensors import operations
from tulle.tensors.sparse_tensor import SparseTensor


def register() -> None:
    """Makes torch's `default_collate` stack sparse tensors."""
    default_collate_fn_map[SparseTensor] = _collate


def _collate(batch: Sequence[SparseTensor], *, collate_fn_map: Any = None) -> SparseTensor:
    return stacked(batch)


def stacked(tensors: Sequence[SparseTensor]) -> SparseTensor:
    """The tensors, which have one shape, along a new first dimension. They may have different
    numbers of entries. The result is that of torch.stack."""
    first = tensors[0]
    for other in tensors:
        if other.shape != first.shape or other.dtype != first.dtype:
            raise UserError(
                f"default_collate: a batch has tensors of one shape and type, but found "
                f"{list(first.shape)} {first.dtype} and {list(other.shape)} {other.dtype}. Give "
                "the data loader collate_fn=list for a list of tensors."
            )
    found: SparseTensor = operations.installed.restructure("stack", list(tensors), 0)
    return found
