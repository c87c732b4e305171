"""Torch's products with further arguments: scaled, added to a tensor, reduced otherwise."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.notation.einsums import einsum
from tulle.operators import arithmetic
from tulle.programs.program import Result
from tulle.support.errors import UserError
from tulle.tensors.entry_lists import from_entries
from tulle.tensors.sparse_tensor import SparseTensor


def sparse_mm(mat1: Any, mat2: Any, reduce: str = "sum", *, out: Tensor | None = None) -> Result:
    """torch.sparse.mm. `reduce` replaces the sum by the "mean", "amax" or "amin" over entries."""
    if reduce == "sum":
        if out is None:
            return arithmetic.matmul(mat1, mat2)
        return arithmetic.matmul_into(mat1, mat2, out)
    if reduce not in ("mean", "amax", "amin"):
        raise UserError(
            f"mm: reduce must be 'sum', 'mean', 'amax' or 'amin', but found {reduce!r}."
        )
    return einsum("ij,jk->ik", mat1, mat2, reduce=reduce, out=out)


def matrix_power(input: SparseTensor, n: int) -> Any:
    """The product of n times the matrix, by repeated squaring. The power 0 is the identity."""
    if input.ndim != 2 or input.shape[0] != input.shape[1]:
        raise UserError(
            f"matrix_power: expected a square matrix, but found the shape {list(input.shape)}."
        )
    if n < 0:
        raise UserError(
            f"matrix_power: the power must be 0 or more, not {n}: the inverse of a sparse matrix "
            "is mostly dense. Invert A.to_dense()."
        )
    if n == 0:
        places = torch.arange(input.shape[0], device=input.device)
        ones = torch.ones(input.shape[0], dtype=input.dtype, device=input.device)
        both, index = torch.stack([places, places]), input.index_dtype
        shape = tuple(input.shape)
        return from_entries(SparseTensor, input.format, shape, both, ones, index, is_sorted=True)
    result, square = None, input
    while n:
        if n % 2:
            result = square if result is None else arithmetic.matmul(result, square)
        n //= 2
        square = arithmetic.matmul(square, square) if n else square
    return result


def multi_dot(tensors: Any, *, out: Tensor | None = None) -> Result:
    """The product of several tensors. Next to a dense tensor at the end, it multiplies from that
    end on, so that the results stay small."""
    first, *others = tensors
    if not others:
        raise UserError("multi_dot: expected at least two tensors, but found one.")
    if isinstance(others[-1], Tensor) and not isinstance(first, Tensor):
        *others, found = tensors
        while others:
            found = _product(others.pop(), found, None if others else out)
        return found
    found = first
    for at, other in enumerate(others, 1):
        found = _product(found, other, out if at == len(others) else None)
    return found


def _product(left: Any, right: Any, out: Tensor | None) -> Any:
    if out is None:
        return arithmetic.matmul(left, right)
    return arithmetic.matmul_into(left, right, out)


def dot(input: Any, tensor: Any, *, out: Tensor | None = None) -> Result:
    """The sum of the products of two vectors."""
    for one in (input, tensor):
        if one.ndim != 1:
            raise UserError(f"dot: expected two vectors, but found the shape {list(one.shape)}.")
    return _product(input, tensor, out)


def add_product(
    input: Any, left: Any, right: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Result:
    """beta * input + alpha * (left @ right), for addmm, addmv and baddbmm."""
    return _added(input, arithmetic.matmul(left, right), beta, alpha, out)


def add_sum_of_products(
    input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Result:
    """addbmm: beta * input + alpha * the sum of the products of a batch."""
    return _added(input, einsum("bij,bjk->ik", batch1, batch2), beta, alpha, out)


def add_outer_product(
    input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Result:
    """addr: beta * input + alpha * the outer product of two vectors."""
    return _added(input, einsum("i,j->ij", vec1, vec2), beta, alpha, out)


def _added(input: Any, product: Any, beta: Any, alpha: Any, out: Any) -> Result:
    product = product if alpha == 1 else product * alpha
    if beta != 0:
        product = (input if beta == 1 else input * beta) + product
    if out is None:
        result: Result = product
        return result
    if not isinstance(product, Tensor):
        raise UserError("out: the result is sparse; omit out=.")
    copied: Tensor = out.copy_(product)
    return copied


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Result:
    """input + value * tensor1 * tensor2 for each element."""
    product = tensor1 * tensor2
    result: Result = input + (product if value == 1 else product * value)
    return result


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Result:
    """input + value * tensor1 / tensor2 for each element."""
    quotient = tensor1 / tensor2
    result: Result = input + (quotient if value == 1 else quotient * value)
    return result
