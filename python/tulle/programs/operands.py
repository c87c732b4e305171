"""What may be an operand: sparse and dense tensors, arrays, numbers."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tulle.interchange.arrays import as_dense
from tulle.interchange.imports import tensor
from tulle.programs import scalar_tensors
from tulle.programs.program import Operand
from tulle.support.errors import UserError
from tulle.support.kinds import is_number, is_scipy
from tulle.tensors.sparse_tensor import SparseTensor


def as_operand(name: str, value: Any) -> Operand:
    """A sparse tensor or an ordinary tensor of the value; messages call it `name`."""
    if isinstance(value, SparseTensor):
        return value
    if isinstance(value, Tensor) and value.layout == torch.strided:
        return value
    if isinstance(value, Tensor) or is_scipy(value):
        return tensor(value)
    if isinstance(value, np.ndarray | list | tuple):
        return as_dense(name, value)
    if is_number(value):
        raise UserError(f"{name}: expected a tensor or an array, but found the number {value}.")
    raise UserError(
        f"{name}: expected a tensor, an array or a number, but found {type(value).__name__}."
    )


def as_scalar(number: float, others: Sequence[Operand]) -> Tensor:
    """A number as an operand of rank 0, whose type yields to the types of tensors with dimensions.
    If the other operands are integers, a fraction has the default type, as in torch."""
    device = others[0].device if others else torch.device("cpu")
    is_integer = isinstance(number, numbers.Integral)
    all_floating = bool(others) and all(other.dtype.is_floating_point for other in others)
    fraction = torch.float64 if all_floating else torch.get_default_dtype()
    dtype, value = (torch.int64, int(number)) if is_integer else (fraction, float(number))
    if isinstance(number, bool):
        dtype = torch.bool
    if device.type == "cuda":
        return scalar_tensors.tensor_of(value, dtype, device)
    return torch.full((), value, dtype=dtype, device=device)
