"""The operand types of products under torch.autocast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C import _is_any_autocast_enabled

from tulle.programs.outputs import Out
from tulle.tensors.sparse_tensor import SparseTensor

# The types that torch.autocast converts. Operands of other types keep theirs.
_CONVERTED = (torch.float32, torch.float16, torch.bfloat16)


def is_enabled() -> bool:
    """Whether torch.autocast is enabled for any device."""
    return _is_any_autocast_enabled()


def cast_if_enabled(operands: Sequence[Any], out: Out) -> Sequence[Any]:
    """The operands of a product and the tensor to which it is added, as `cast` returns them if
    torch.autocast is enabled."""
    return cast(operands, out) if is_enabled() else operands


def cast(operands: Sequence[Any], out: Out) -> Sequence[Any]:
    """The operands in the type that torch.autocast has for their device. As in torch, a call with
    `out`, and one with an operand of another type, such as float64, keeps its types."""
    if out is not None:
        return operands
    for operand in operands:
        if isinstance(operand, Tensor | SparseTensor):
            kind = operand.device.type
            if not torch.is_autocast_enabled(kind) or operand.dtype not in _CONVERTED:
                return operands
    return [_cast(operand) for operand in operands]


def _cast(operand: Any) -> Any:
    if isinstance(operand, SparseTensor):
        return operand.to(dtype=torch.get_autocast_dtype(operand.device.type))
    if isinstance(operand, Tensor):
        return operand.to(torch.get_autocast_dtype(operand.device.type))
    return operand
