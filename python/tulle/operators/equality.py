"""Whether two tensors are equal or close in all elements."""

from __future__ import annotations

from typing import Any

import torch

from tulle.operators.alignment import with_single_entries
from tulle.operators.element_statistics import any_
from tulle.operators.pointwise import align
from tulle.operators.pointwise_table import BY_FUNCTION
from tulle.programs.operands import as_operand
from tulle.support.errors import UserError
from tulle.support.kinds import is_number
from tulle.tensors.sparse_tensor import SparseTensor

_ISCLOSE = BY_FUNCTION[torch.isclose]


def is_same_size(input: Any, other: Any) -> bool:
    """torch.is_same_size: whether the shapes are equal."""
    return tuple(input.shape) == tuple(other.shape)


def contains(self: SparseTensor, element: Any) -> bool:
    """`number in A`: whether an element equals the number. Absent elements are 0."""
    if not is_number(element):
        raise UserError(f"in: expected a number, but found {type(element).__name__}.")
    if element == 0 and self.nnz < self.numel():
        return True
    _, values = with_single_entries(self).entries()
    return bool((values.detach() == element).any())


def equal(input: Any, other: Any) -> bool:
    """torch.equal: whether the shapes and all elements are equal. Absent elements are 0."""
    left, right = as_operand("input", input), as_operand("other", other)
    if left.shape != right.shape:
        return False
    differs: Any = left != right
    found = any_(differs) if isinstance(differs, SparseTensor) else differs.any()
    return not bool(found)


def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """torch.allclose: whether all elements are close. Absent elements are 0."""
    left, right = as_operand("input", input), as_operand("other", other)
    limits = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    if not (isinstance(left, SparseTensor) and isinstance(right, SparseTensor)):
        return bool(torch.isclose(left, right, **limits).all())
    combined, aligned = align(_ISCLOSE, {0: left, 1: right})
    far = ~torch.isclose(aligned[0], aligned[1], **limits)
    return not bool(any_(SparseTensor(combined[0]._pattern, far)))
