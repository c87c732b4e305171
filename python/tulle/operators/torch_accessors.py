"""PyTorch's functions that ask about a sparse tensor, copy it, or make a tensor like it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.interchange import constructors
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.torch_dispatch import Handler, handlers


def register() -> None:
    """Makes these functions accept sparse tensors."""
    handlers.update(_HANDLERS)
    for function, make in _LIKE.items():
        handlers[function] = _like_handler(make)


def _like_handler(make: Any) -> Handler:
    def handle(
        input: Any,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> SparseTensor:
        _check_layout(make.__name__, layout, input)
        made: SparseTensor = make(input, dtype=dtype, device=device, requires_grad=requires_grad)
        return made

    return handle


def _full_like(
    input: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> SparseTensor:
    _check_layout("full_like", layout, input)
    return constructors.full_like(
        input, fill_value, dtype=dtype, device=device, requires_grad=requires_grad
    )


def _check_layout(name: str, layout: Any, input: SparseTensor) -> None:
    if layout is not None and layout != input.layout:
        raise UserError(
            f"{name}: the result has the format {input.format} of the tensor, not {layout}; "
            "convert the result with to_sparse(layout=...) or to_dense()."
        )


def _empty_like(input: SparseTensor, **options: Any) -> SparseTensor:
    return constructors.zeros_like(input, **options)


def _result_type(tensor: Any, other: Any) -> torch.dtype:
    """torch.result_type, which depends on the types, and on which operands have dimensions."""
    alike = [
        torch.empty([0] * one.ndim, dtype=one.dtype) if isinstance(one, SparseTensor) else one
        for one in (tensor, other)
    ]
    return torch.result_type(*alike)


def _moved(tensor: Any, other: Any, **options: Any) -> Any:
    """dense.to(A) and dense.type_as(A): the type and the device of a sparse tensor."""
    return tensor.to(device=other.device, dtype=other.dtype)


_LIKE: dict[Any, Any] = {
    torch.zeros_like: constructors.zeros_like,
    torch.ones_like: constructors.ones_like,
    torch.rand_like: constructors.rand_like,
    torch.randn_like: constructors.randn_like,
    torch.empty_like: _empty_like,
}

_HANDLERS: dict[Any, Handler] = {
    torch.full_like: _full_like,
    torch.is_floating_point: lambda input: input.is_floating_point(),
    torch.is_complex: lambda input: input.is_complex(),
    torch.is_signed: lambda input: input.is_signed(),
    torch.is_conj: lambda input: input.is_conj(),
    torch.is_neg: lambda input: input.is_neg(),
    torch.is_inference: lambda input: input.is_inference(),
    torch.result_type: _result_type,
    torch.numel: lambda input: input.numel(),
    torch.clone: lambda input, memory_format=None: input.clone(),
    torch.detach: lambda input: input.detach(),
    Tensor.type_as: _moved,
    Tensor.to: _moved,
}
