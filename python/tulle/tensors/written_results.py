"""Results of PyTorch's functions that are copied to the tensors of `out=`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.support.errors import UserError
from tulle.tensors.stored_tensor import StoredTensor


def written(out: Any, result: Any) -> Any:
    """Copies one result or several to `out`, and returns `out`."""
    if isinstance(result, tuple):
        if not isinstance(out, tuple | list) or len(out) != len(result):
            raise UserError(f"out: expected a tuple of {len(result)} tensors for as many results.")
        copied = [_copied(*pair) for pair in zip(out, result, strict=True)]
        return type(result)(copied) if hasattr(result, "n_fields") else tuple(copied)
    return _copied(out, result)


def _copied(out: Any, result: Any) -> Any:
    is_sparse = isinstance(out, StoredTensor)
    if is_sparse != isinstance(result, StoredTensor):
        kinds = ("dense", "sparse") if is_sparse else ("sparse", "dense")
        raise UserError(f"out: the result is {kinds[0]}, but out is {kinds[1]}; omit out=.")
    if not is_sparse and (not isinstance(out, Tensor) or out.layout != torch.strided):
        raise UserError(f"out: expected a dense tensor, but found {type(out).__name__}.")
    if torch.is_grad_enabled() and (out.requires_grad or result.requires_grad):
        raise UserError(
            "out: a result that is written to a tensor has no gradient. Compute under "
            "torch.no_grad(), or omit out=."
        )
    if not torch.can_cast(result.dtype, out.dtype):
        raise UserError(f"out: the result has the type {result.dtype}, but out has {out.dtype}.")
    if out.shape != result.shape:
        if is_sparse or out.numel():
            raise UserError(
                f"out: the result has the shape {list(result.shape)}, but out has "
                f"{list(out.shape)}."
            )
        out.resize_(result.shape)  # torch.empty(0) takes any shape
    return out.copy_(result)
