"""Changes of dense tensors in place by functions of sparse ones: `x += A`, `x.addmm_(A, y)`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.library import dtypes
from tulle.operators.in_place import AUGMENTED, fill_, zero_
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.torch_dispatch import Handler, handlers


def register() -> None:
    """Adds the functions of torch that change their first operand to the table of handlers, for all
    functions that are in it."""
    for name in dir(Tensor):
        if not name.endswith("_") or name.startswith("_"):
            continue
        compute = handlers.get(getattr(Tensor, name[:-1], None))
        if compute is None:
            continue
        change = _change(name, compute)
        for place in (Tensor, torch):
            if hasattr(place, name):
                handlers.setdefault(getattr(place, name), change)
    for operator, name in AUGMENTED.items():
        handlers.setdefault(getattr(Tensor, operator), handlers[getattr(Tensor, f"{name}_")])
    handlers[Tensor.copy_] = _copy
    handlers[torch.zero_], handlers[torch.fill_] = zero_, fill_


def _change(name: str, compute: Handler) -> Handler:
    """The function that changes its first operand to the result of `compute`."""

    def change(self: Any, *operands: Any, **options: Any) -> Any:
        if isinstance(self, SparseTensor):
            return getattr(self, name)(*operands, **options)
        return _stored(name, self, compute(self, *operands, **options))

    return change


def _stored(name: str, target: Tensor, result: Any) -> Tensor:
    """Writes a result into a dense tensor."""
    if isinstance(result, SparseTensor):
        result = result.to_dense()
    if result.shape != target.shape:
        raise UserError(
            f"{name}: the result of the shape {list(result.shape)} does not fit into a tensor of "
            f"the shape {list(target.shape)}."
        )
    if not dtypes.can_hold(target.dtype, result.dtype):
        raise UserError(
            f"{name}: the result of the type {result.dtype} does not fit into a tensor of the type "
            f"{target.dtype}."
        )
    return target.copy_(result)


def _copy(self: Any, src: Any, non_blocking: bool = False) -> Any:
    if isinstance(self, SparseTensor):
        return self.copy_(src, non_blocking)
    return self.copy_(src.to_dense(), non_blocking)
