"""Reductions that consist of others: any, all, norms, variances, counts, maxima with places."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from tulle.operators.alignment import ones_like, values_at, with_single_entries
from tulle.operators.reductions import Dimensions, reduce, reduced_dimensions
from tulle.programs.program import Result
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.support.kinds import is_number
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor

_HALVES = (torch.float16, torch.bfloat16)


def _is_set(input: SparseTensor) -> SparseTensor:
    """Whether each element differs from 0."""
    if input.dtype == torch.bool:
        return input
    differs: SparseTensor = input != 0
    return differs


def any_(input: SparseTensor, dim: Dimensions = None, keepdim: bool = False) -> Result:
    """Whether an element differs from 0, over one dimension, several or all."""
    return reduce("amax", _is_set(input), dim, keepdim, False)


def all_(input: SparseTensor, dim: Dimensions = None, keepdim: bool = False) -> Result:
    """Whether all elements differ from 0, over one dimension, several or all. Absent elements are
    0."""
    return reduce("amin", _is_set(input), dim, keepdim, False)


def count_nonzero(input: SparseTensor, dim: Dimensions = None) -> Result:
    """The number of elements that differ from 0."""
    return reduce("sum", _is_set(input).to(torch.int64), dim, False, False)


def nansum(
    input: SparseTensor, dim: Dimensions = None, keepdim: bool = False, *, dtype: Any = None
) -> Result:
    """The sum of the elements that are no NaN."""
    return reduce("sum", _without_nan(input), dim, keepdim, False, dtype)


def nanmean(
    input: SparseTensor, dim: Dimensions = None, keepdim: bool = False, *, dtype: Any = None
) -> Result:
    """The mean of the elements that are no NaN. Absent elements count as 0."""
    total = reduce("sum", _without_nan(input), dim, keepdim, False, dtype)
    left_out = reduce("sum", input.isnan().to(torch.int64), dim, keepdim, False)
    result: Result = total / (_extent(input, dim) - left_out)
    return result


def _without_nan(input: SparseTensor) -> Any:
    return input.masked_fill(input.isnan(), 0)


# ---- maxima and minima with their places -------------------------------------------------------


def max_(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """torch.max: the largest element, the largest elements along a dimension with their
    coordinates, or the larger one of each two elements."""
    return _extreme("max", input, dim if other is None else other, keepdim)


def min_(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """torch.min, as `max_`."""
    return _extreme("min", input, dim if other is None else other, keepdim)


def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    """torch.aminmax: the smallest and the largest element, of all or along a dimension."""
    found = [reduce(name, input, dim, keepdim, False) for name in ("amin", "amax")]
    return torch.return_types.aminmax(found)


def _extreme(name: str, input: Any, dim: Any, keepdim: bool) -> Any:
    if isinstance(dim, SparseTensor | Tensor):
        return getattr(torch, f"{name}imum")(input, dim)
    if dim is None:
        return reduce(f"a{name}", input, dim, keepdim, False)
    if not isinstance(dim, int):
        raise UserError(f"{name}: expected one dimension, but found {dim!r}; use a{name}.")
    dimension_of(name, dim, input.ndim)
    values = reduce(f"a{name}", input, dim, keepdim, False)
    places = reduce(f"arg{name}", input, dim, keepdim, False)
    return getattr(torch.return_types, name)((values, places))


# ---- norms ---------------------------------------------------------------------------------------


def vector_norm(
    input: SparseTensor,
    ord: Any = 2,
    dim: Dimensions = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Result:
    """torch.linalg.vector_norm over one dimension, several or all."""
    if dtype is not None:
        input = input.to(dtype)
    if not input.dtype.is_floating_point:
        raise UserError(f"norm: the tensor has the type {input.dtype}; convert it with float().")
    if not is_number(ord) or (ord < 0 and ord != -math.inf):
        raise UserError(f"norm: the order must be at least 0, inf or -inf, but found {ord!r}.")
    if input.dtype in _HALVES:
        return _norm(input.float(), float(ord), dim, keepdim).to(input.dtype)
    return _norm(input, float(ord), dim, keepdim)


def _norm(x: SparseTensor, order: float, dim: Dimensions, keepdim: bool) -> Result:
    if order == 0:
        return reduce("sum", _is_set(x).to(torch.int64), dim, keepdim, False).to(x.dtype)
    if math.isinf(order):
        return reduce("amax" if order > 0 else "amin", x.abs(), dim, keepdim, False)
    if order == 1:
        return reduce("sum", x.abs(), dim, keepdim, False)
    powers = x.square() if order == 2 else x.abs() ** order
    return _root(reduce("sum", powers, dim, keepdim, False), order)


def _root(total: Result, order: float) -> Result:
    """The root, whose gradient at 0 is 0, as torch defines that of norms and deviations."""
    if isinstance(total, SparseTensor):
        return total.with_values(_dense_root(total.values(), order))
    return _dense_root(total, order)


def _dense_root(total: Tensor, order: float) -> Tensor:
    is_zero = total == 0
    positive = total.masked_fill(is_zero, 1)
    root = positive.sqrt() if order == 2 else positive ** (1 / order)
    return root.masked_fill(is_zero, 0)


def norm(
    input: SparseTensor,
    p: Any = "fro",
    dim: Dimensions = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Result:
    """torch.norm: "fro" or the order of a vector norm."""
    if p is None or p == "fro":
        p = 2
    return vector_norm(input, p, dim, keepdim, dtype=dtype)


def dist(input: Any, other: Any, p: Any = 2) -> Result:
    """torch.dist: the norm of the difference of two tensors."""
    difference = input - other
    if isinstance(difference, Tensor):
        return torch.linalg.vector_norm(difference, p)
    return vector_norm(difference, p)


def linalg_norm(
    input: SparseTensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Result:
    """torch.linalg.norm: a matrix norm if `ord` is given for two dimensions, else a vector norm."""
    is_matrix = input.ndim == 2 if dim is None else isinstance(dim, tuple | list) and len(dim) == 2
    if ord is None or not (is_matrix or isinstance(ord, str)):
        return vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return matrix_norm(input, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)


def matrix_norm(
    input: SparseTensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Result:
    """torch.linalg.matrix_norm without those of singular values."""
    if dtype is not None:
        input = input.to(dtype)
    if ord == "fro":
        return vector_norm(input, 2, tuple(dim), keepdim)
    if ord not in (1, -1, math.inf, -math.inf):
        raise UserError(
            f"matrix_norm: the order must be 'fro', 1, -1, inf or -inf, but found {ord!r}. "
            "For the others write torch.linalg.matrix_norm(A.to_dense(), ord)."
        )
    rows, columns = (d % input.ndim for d in dim)
    summed, chosen = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = reduce("sum", input.abs(), summed, True, False)
    if ord > 0 and not input.shape[chosen]:  # the largest of no sums
        found = sums.sum((chosen,), True)
    else:
        found = sums.amax((chosen,), True) if ord > 0 else sums.amin((chosen,), True)
    if keepdim:
        return found
    shape = [size for d, size in enumerate(input.shape) if d not in (rows, columns)]
    return (found if isinstance(found, Tensor) else found.to_dense()).reshape(shape)


def normalize(input: SparseTensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Result:
    """torch.nn.functional.normalize: the tensor divided by its norms, which count as at least
    `eps`."""
    found: Result = input / vector_norm(input, p, dim, True).clamp_min(eps)
    return found


# ---- variances -----------------------------------------------------------------------------------


def _extent(input: SparseTensor, dim: Dimensions) -> int:
    """The number of elements that a reduction over these dimensions covers."""
    return math.prod(input.shape[d] for d in reduced_dimensions("var", dim, input.ndim))


def var(
    input: SparseTensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Result:
    """The variance over one dimension, several or all. Absent elements count as 0."""
    if isinstance(dim, bool):  # torch.var(A, unbiased)
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    if not input.dtype.is_floating_point:
        raise UserError(f"var: the tensor has the type {input.dtype}; convert it with float().")
    if input.dtype in _HALVES:
        return _variance(input.float(), dim, keepdim, correction).to(input.dtype)
    return _variance(input, dim, keepdim, correction)


@recorded
def _variance(input: SparseTensor, dim: Dimensions, keepdim: bool, correction: Any) -> Result:
    """The squares of the differences from the mean: those of entries, then those of the absent
    elements, which equal the square of the mean."""
    input = with_single_entries(input)
    extent = float(_extent(input, dim))  # may exceed the integers of tensors
    mean = reduce("mean", input, dim, True, False)
    centred = _centred(input, mean)
    counts = reduce("sum", ones_like(input, torch.int64), dim, True, False).to(input.dtype)
    squares = reduce("sum", centred.square(), dim, True, False)
    squares = squares + mean * mean * extent - mean * mean * counts
    found: Result = squares / max(extent - correction, 0.0)
    if keepdim:
        return found
    reduced = reduced_dimensions("var", dim, input.ndim)
    if isinstance(found, SparseTensor):
        return reduce("sum", found, tuple(reduced), False, False)
    return found.reshape([size for d, size in enumerate(input.shape) if d not in reduced])


def _centred(input: SparseTensor, mean: Result) -> SparseTensor:
    """The differences of the entries from the mean of their reduction."""
    if isinstance(mean, Tensor):
        return SparseTensor(input._pattern, input._values - values_at(mean, input))
    found: SparseTensor = input - ones_like(input, input.dtype) * mean
    return found


def std(
    input: SparseTensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> Result:
    """The square root of `var`."""
    if not isinstance(dim, bool):
        reduced_dimensions("std", dim, input.ndim)  # so that messages name std
    return _root(var(input, dim, unbiased, keepdim, correction=correction), 2)


def var_mean(
    input: SparseTensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> tuple[Result, Result]:
    """`var` and the mean."""
    dims = None if isinstance(dim, bool) else dim
    found = var(input, dim, unbiased, keepdim, correction=correction)
    return found, reduce("mean", input, dims, keepdim, False)


def std_mean(
    input: SparseTensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
) -> tuple[Result, Result]:
    """`std` and the mean."""
    found, mean = var_mean(input, dim, unbiased, keepdim, correction=correction)
    return _root(found, 2), mean
