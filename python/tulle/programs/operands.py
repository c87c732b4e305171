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
    instead = "; call the module for its tensor" if isinstance(value, torch.nn.Module) else ""
    raise UserError(
        f"{name}: expected a tensor, an array or a number, but found {type(value).__name__}"
        f"{instead}."
    )


def as_scalar(number: float, others: Sequence[Operand]) -> Tensor:
    """A number as an operand of rank 0, whose type yields to the types of tensors with dimensions.
    If the other operands are integers, a fraction has the default type, as in torch."""
    device = others[0].device if others else torch.device("cpu")
    if isinstance(number, bool):
        return scalar_tensors.tensor_of(number, torch.bool, device)
    if isinstance(number, int | numbers.Integral):
        return scalar_tensors.tensor_of(int(number), torch.int64, device)
    dtype = torch.float64 if others else torch.get_default_dtype()
    for other in others:
        if not other.dtype.is_floating_point:
            dtype = torch.get_default_dtype()
    return scalar_tensors.tensor_of(float(number), dtype, device)
