"""What may stand where an operand is expected: sparse and dense tensors, arrays, numbers."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor

from tulle.programs import scalar_tensors
from tulle.programs.execution import Operand
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor


def is_scipy(value: object) -> bool:
    """Whether it is one of SciPy's sparse matrices or arrays; asks without importing SciPy."""
    return any(kind.__module__.startswith("scipy.sparse") for kind in type(value).__mro__)


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a number of Python's, whose type gives way to that of tensors."""
    return isinstance(value, numbers.Real) and not isinstance(value, np.ndarray)


def is_operand(value: object) -> bool:
    """Whether `as_operand` knows what to do with it."""
    return isinstance(value, SparseTensor | Tensor | np.ndarray) or is_scipy(value)


def as_operand(name: str, value: Any) -> Operand:
    """A sparse tensor, or a dense tensor of PyTorch's."""
    if isinstance(value, SparseTensor):
        return value
    if isinstance(value, Tensor) and value.layout == torch.strided:
        return value
    if isinstance(value, Tensor) or is_scipy(value):
        from tulle.interchange import imports

        return imports.tensor(value)
    if isinstance(value, np.ndarray | list | tuple):
        return as_dense(name, value)
    if is_number(value):
        raise UserError(f"{name}: expected a tensor or an array, but found the number {value}.")
    raise UserError(
        f"{name}: expected a tensor, an array or a number, but found {type(value).__name__}."
    )


def as_dense(name: str, data: Any) -> Tensor:
    """A dense tensor of an array or of nested lists of numbers."""
    try:
        return torch.as_tensor(data)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UserError(
            f"{name}: expected a tensor, an array or nested lists of numbers, but found "
            f"{type(data).__name__}, of which torch makes no tensor: {error}"
        ) from None


def as_scalar(number: float, others: Sequence[Operand]) -> Tensor:
    """A number as an operand of rank 0. Those give way to the types of tensors with dimensions;
    beside integers a fraction has the default type, as in torch."""
    device = others[0].device if others else torch.device("cpu")
    is_whole = isinstance(number, numbers.Integral)
    all_floating = bool(others) and all(other.dtype.is_floating_point for other in others)
    fraction = torch.float64 if all_floating else torch.get_default_dtype()
    dtype, value = (torch.int64, int(number)) if is_whole else (fraction, float(number))
    if isinstance(number, bool):
        dtype = torch.bool
    if device.type == "cuda":
        return scalar_tensors.tensor_of(value, dtype, device)
    return torch.full((), value, dtype=dtype, device=device)


def index_names(count: int) -> list[str]:
    """Names for that many indices: i, j, k, ..."""
    letters = "ijklmnopqrst"
    return [letters[n] if n < len(letters) else f"i{n}" for n in range(count)]
