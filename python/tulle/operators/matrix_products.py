"""Torch's products with further arguments: scaled, added to a tensor, reduced otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tulle.notation.einsums import einsum
from tulle.operators import arithmetic
from tulle.programs import autocast
from tulle.programs.program import Result
from tulle.support.errors import UserError
from tulle.support.text import nearest


def sparse_mm(mat1: Any, mat2: Any, reduce: str = "sum", *, out: Tensor | None = None) -> Result:
    """torch.sparse.mm. `reduce` replaces the sum by the "mean", "amax" or "amin" over entries."""
    if reduce == "sum":
        if out is None:
            return arithmetic.matmul(mat1, mat2)
        return arithmetic.matmul_into(mat1, mat2, out)
    if reduce not in ("mean", "amax", "amin"):
        raise UserError(
            f"mm: reduce must be 'sum', 'mean', 'amax' or 'amin', but found {reduce!r}"
            f"{nearest(reduce, ('amax', 'amin', 'mean', 'sum'))}"
        )
    return einsum("ij,jk->ik", mat1, mat2, reduce=reduce, out=out)


def add_product(
    input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Result:
    """addmm: beta * input + alpha * (mat1 @ mat2)."""
    input, mat1, mat2 = autocast.cast_if_enabled((input, mat1, mat2), out)
    return _added(input, arithmetic.matmul(mat1, mat2), beta, alpha, out)


def add_batch_product(
    input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Result:
    """baddbmm: beta * input + alpha * (batch1 @ batch2)."""
    return add_product(input, batch1, batch2, beta=beta, alpha=alpha, out=out)


def hybrid_product(mat1: Any, mat2: Any) -> Result:
    """torch.hspmm: the product of a sparse by a dense matrix, with the rows that have entries."""
    return einsum("ij,jk->ik", mat1, mat2, out_format="(i,k) -> (i: compressed, k: dense)")


def sparse_product(input: Any, mat2: Any) -> Result:
    """torch.smm: the product of a sparse by a dense matrix, as a sparse matrix."""
    return einsum("ij,jk->ik", input, mat2, out_format="coo")


def add_sparse_product(
    input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1
) -> Result:
    """torch.sspaddmm: beta * input + alpha * (mat1 @ mat2), as a sparse matrix."""
    return _added(input, sparse_product(mat1, mat2), beta, alpha, None)


def add_sum_of_products(
    input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Result:
    """addbmm: beta * input + alpha * the sum of the products of a batch."""
    input, batch1, batch2 = autocast.cast_if_enabled((input, batch1, batch2), out)
    return _added(input, einsum("bij,bjk->ik", batch1, batch2), beta, alpha, out)


def add_vector_product(
    input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Result:
    """addmv: beta * input + alpha * (mat @ vec)."""
    return _added_on_gpu(arithmetic.matmul, input, mat, vec, beta, alpha, out)


def add_outer_product(
    input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Result:
    """addr: beta * input + alpha * the outer product of two vectors."""
    return _added_on_gpu(_outer_product, input, vec1, vec2, beta, alpha, out)


def _outer_product(vec1: Any, vec2: Any) -> Any:
    return einsum("i,j->ij", vec1, vec2)


def _added_on_gpu(
    product: Callable[[Any, Any], Any],
    input: Any,
    left: Any,
    right: Any,
    beta: Any,
    alpha: Any,
    out: Any,
) -> Result:
    """The sum with a product that torch.autocast converts on GPUs only."""
    if any(getattr(operand, "is_cuda", False) for operand in (input, left, right)):
        input, left, right = autocast.cast_if_enabled((input, left, right), out)
    elif autocast.is_enabled():
        with torch.autocast("cpu", enabled=False):
            return _added(input, product(left, right), beta, alpha, out)
    return _added(input, product(left, right), beta, alpha, out)


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
