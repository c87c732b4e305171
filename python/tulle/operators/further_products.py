"""Torch's products of vectors, of tensors and of several matrices: each becomes an einsum or a
sequence of products."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any

import torch
from torch import Tensor

from tulle.interchange import constructors
from tulle.notation.einsums import einsum
from tulle.programs.program import Result
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor


def dot(input: Any, tensor: Any) -> Result:
    """The sum of the products of the elements of two vectors."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise UserError(f"dot: expected two vectors, but found ranks {input.ndim}, {tensor.ndim}.")
    return einsum("i,i->", input, tensor)


def vdot(input: Any, other: Any) -> Result:
    """As `dot`: values are real."""
    return dot(input, other)


def vecdot(x: Any, y: Any, *, dim: int = -1) -> Result:
    """torch.linalg.vecdot: the sums of the products of elements along a dimension."""
    found: Result = (x * y).sum(dim)
    return found


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Result:
    """torch.nn.functional.cosine_similarity. Norms count as at least `eps`."""
    norms = [torch.linalg.vector_norm(one, dim=dim).clamp_min(eps) for one in (x1, x2)]
    found: Result = vecdot(x1, x2, dim=dim) / (norms[0] * norms[1])
    return found


def outer(input: Any, vec2: Any) -> Result:
    """The matrix of the products of all elements of two vectors."""
    if input.ndim != 1 or vec2.ndim != 1:
        raise UserError(f"outer: expected two vectors, but found ranks {input.ndim}, {vec2.ndim}.")
    return einsum("i,j->ij", input, vec2)


def inner(input: Any, other: Any) -> Result:
    """The sums of products over the last dimensions."""
    return tensordot(input, other, ([-1], [-1]))


def tensordot(a: Any, b: Any, dims: Any = 2) -> Result:
    """The sums of products over pairs of dimensions: over the last `dims` of `a` and the first ones
    of `b`, or over two lists of dimensions."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise UserError(
                f"tensordot: {dims} dimensions do not fit tensors of the ranks {a.ndim}, {b.ndim}."
            )
        dims = range(a.ndim - dims, a.ndim), range(dims)
    firsts, seconds = (list(given) for given in dims)
    if len(firsts) != len(seconds):
        raise UserError(f"tensordot: {firsts} and {seconds} must name equally many dimensions.")
    left, right = ascii_letters[: a.ndim], list(ascii_letters[a.ndim : a.ndim + b.ndim])
    summed = [left[dimension_of("tensordot", d, a.ndim)] for d in firsts]
    for letter, d in zip(summed, seconds, strict=True):
        right[dimension_of("tensordot", d, b.ndim)] = letter
    kept = [letter for letter in (*left, *right) if letter not in summed]
    return einsum(f"{left},{''.join(right)}->{''.join(kept)}", a, b)


def multi_dot(tensors: Sequence[Any], *, out: Tensor | None = None) -> Any:
    """The product of several matrices, of which the first and the last may be vectors. It begins at
    the end that is dense or a vector, so that products stay thin."""
    factors = list(tensors)
    if len(factors) < 2:
        raise UserError(f"multi_dot: expected at least two tensors, but found {len(factors)}.")
    if isinstance(factors[-1], Tensor):
        result = factors.pop()
        while factors:
            result = factors.pop() @ result
    else:
        result = factors.pop(0)
        while factors:
            result = result @ factors.pop(0)
    if out is None:
        return result
    if isinstance(result, SparseTensor):
        raise UserError("out: the result is sparse; omit out=.")
    return out.copy_(result)


def matrix_power(input: Any, n: int) -> Any:
    """The product of n times the same matrix."""
    if n < 0:
        raise UserError(
            f"matrix_power: n must be 0 or more, not {n}: the inverse of a sparse matrix is mostly "
            "dense. Invert A.to_dense()."
        )
    if input.ndim != 2 or input.shape[0] != input.shape[1]:
        raise UserError(
            f"matrix_power: expected a square matrix, but found the shape {list(input.shape)}."
        )
    if n == 0:
        ones = constructors.eye(input.shape[0], dtype=input.dtype, device=input.device)
        return ones.to(format=input.format)
    result, square = None, input
    while n:
        if n % 2:
            result = square if result is None else result @ square
        n //= 2
        square = square @ square if n else square
    return result
