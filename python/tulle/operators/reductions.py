"""Reductions and softmax of sparse tensors: each becomes a line of index notation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import torch

from tulle.operators.index_notation import OPERAND_NAMES, access, index_names
from tulle.programs.call_sites import CallSite, Prepared
from tulle.programs.program import Operand, Result, statement_program
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor

Dimensions: TypeAlias = int | tuple[int, ...] | None

# The names of torch's reductions that index notation calls differently.
_SPELLINGS = {"amax": "max", "amin": "min"}


@recorded
def reduce(
    name: str,
    operand: SparseTensor,
    dim: Dimensions,
    keepdim: bool,
    stored: bool,
    dtype: torch.dtype | None = None,
) -> Result:
    """A reduction over one dimension, several or all. It covers all elements, or with `stored` only
    the stored ones. They are converted to `dtype` before."""
    if dtype is not None:
        return reduce(name, operand.to(dtype), dim, keepdim, stored).to(dtype)
    if name in ("sum", "prod") and not operand.dtype.is_floating_point:
        operand = operand.to(dtype=torch.int64)
    if name == "mean" and not operand.dtype.is_floating_point:
        raise UserError(f"mean: the tensor has the type {operand.dtype}; convert it with float().")
    if name in ("argmax", "argmin") and dim is None and operand.ndim > 1 and not stored:
        return _place_in_all(name, operand, keepdim)
    if name in ("argmax", "argmin") and not isinstance(dim, int) and operand.ndim > 1:
        raise UserError(f"{name}: give one dimension, as in {name}(1).")
    dims = tuple(dim) if isinstance(dim, list) else dim
    result: Result = _reduction(name, dims, stored).run_on_one(operand)
    if not keepdim:
        return result
    reduced = reduced_dimensions(name, dims, operand.ndim)
    if isinstance(result, SparseTensor):
        ones = [torch.ones(1, dtype=result.dtype, device=result.device)] * len(reduced)
        kept: Result = _kept_dimensions(operand.ndim, reduced).run((result, *ones))
        return kept
    return result.reshape([1 if d in reduced else n for d, n in enumerate(operand.shape)])


@lru_cache(maxsize=1024)
def _kept_dimensions(rank: int, reduced: frozenset[int]) -> CallSite:
    """The call site that inserts dimensions of size 1 into a sparse result."""
    indices = index_names(rank)
    kept = [index for d, index in enumerate(indices) if d not in reduced]
    names = ("A", *(f"u{d}" for d in sorted(reduced)))
    factors = [access("A", kept), *(access(f"u{d}", [indices[d]]) for d in sorted(reduced))]
    program = statement_program(f"{access('C', indices)} = {' * '.join(factors)}")
    return CallSite(lambda operands: (program, names, operands))


def _place_in_all(name: str, operand: SparseTensor, keepdim: bool) -> Result:
    """argmax or argmin over all elements: the number of the element in row-major order. The best
    of each row first, then the best row."""
    best = reduce("amax" if name == "argmax" else "amin", operand, -1, False, False)
    places = reduce(name, operand, -1, False, False)
    rows = (best.to_dense() if isinstance(best, SparseTensor) else best).reshape(-1)
    row = rows.argmax() if name == "argmax" else rows.argmin()
    columns = (places.to_dense() if isinstance(places, SparseTensor) else places).reshape(-1)
    found = row * operand.shape[-1] + columns[row]
    return found.reshape([1] * operand.ndim) if keepdim else found


def reduced_dimensions(name: str, dim: Dimensions, rank: int) -> frozenset[int]:
    """The dimensions over which a reduction with this argument goes."""
    given = range(rank) if dim is None else dim if isinstance(dim, tuple | list) else (dim,)
    dimensions = [dimension_of(name, d, rank) for d in given]
    if len(set(dimensions)) < len(dimensions):
        raise UserError(f"{name}: each dimension is given once, but found {dim}.")
    return frozenset(dimensions or range(rank))


@lru_cache(maxsize=1024)
def _reduction(name: str, dim: Dimensions, stored: bool) -> CallSite:
    def prepare(operands: Sequence[Operand]) -> Prepared:
        rank = operands[0].ndim
        reduced = reduced_dimensions(name, dim, rank)
        indices = index_names(rank)
        kept = [index for d, index in enumerate(indices) if d not in reduced]
        over = [index for d, index in enumerate(indices) if d in reduced]
        value = _value(name, over, access("A", indices), stored)
        return statement_program(f"{access('C', kept)} = {value}"), OPERAND_NAMES[:1], operands

    return CallSite(prepare)


def _value(name: str, over: list[str], element: str, stored: bool) -> str:
    """The right side of the statement."""
    if name == "sum" or not over:  # indices that the result lacks are summed over
        return element
    indices = over[0] if len(over) == 1 else f"({','.join(over)})"
    entries = " stored" if stored else ""
    return f"{_SPELLINGS.get(name, name)}({indices}{entries}, {element})"


@recorded
def softmax(name: str, operand: SparseTensor, dim: int, dtype: torch.dtype | None = None) -> Result:
    """softmax or log_softmax along a dimension, over the stored entries converted to `dtype`."""
    if dtype is not None:
        operand = operand.to(dtype)
    if not operand.dtype.is_floating_point:
        raise UserError(f"{name}: the tensor has the type {operand.dtype}; convert with float().")
    return _softmax(name, dim).run_on_one(operand)


@lru_cache(maxsize=1024)
def _softmax(name: str, dim: int) -> CallSite:
    def prepare(operands: Sequence[Operand]) -> Prepared:
        rank = operands[0].ndim
        indices = index_names(rank)
        over, element = indices[dimension_of(name, dim, rank)], access("A", indices)
        text = f"{access('C', indices)} = {name}({over} stored, {element})"
        return statement_program(text), OPERAND_NAMES[:1], operands

    return CallSite(prepare)
