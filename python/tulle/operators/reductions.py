"""Reductions and softmax of sparse tensors: each becomes a line of index notation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import torch

from tulle.operators.index_notation import OPERAND_NAMES, access, index_names
from tulle.programs.call_sites import CallSite, Prepared
from tulle.programs.graph_boundary import recorded
from tulle.programs.program import Operand, Result, statement_program
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.tensors.sparse_tensor import SparseTensor

Dimensions: TypeAlias = int | tuple[int, ...] | None

# The names of torch's reductions that index notation calls differently.
_SPELLINGS = {"amax": "max", "amin": "min"}


@recorded
def reduce(
    name: str, operand: SparseTensor, dim: Dimensions, keepdim: bool, stored: bool
) -> Result:
    """A reduction over one dimension, several or all. It covers all elements, or with `stored` only
    the stored ones."""
    if name in ("sum", "prod") and not operand.dtype.is_floating_point:
        operand = operand.to(dtype=torch.int64)
    if name == "mean" and not operand.dtype.is_floating_point:
        raise UserError(f"mean: the tensor has the type {operand.dtype}; convert it with float().")
    if name in ("argmax", "argmin") and not isinstance(dim, int) and operand.ndim > 1:
        raise UserError(
            f"{name}: give a dimension, as in {name}(1); over all elements use to_dense().{name}()."
        )
    dims = tuple(dim) if isinstance(dim, list) else dim
    result: Result = _reduction(name, dims, stored).run_on_one(operand)
    if not keepdim:
        return result
    reduced = _reduced_dimensions(name, dims, operand.ndim)
    shape = [1 if d in reduced else size for d, size in enumerate(operand.shape)]
    dense = result.to_dense() if isinstance(result, SparseTensor) else result
    return dense.reshape(shape)


def _reduced_dimensions(name: str, dim: Dimensions, rank: int) -> frozenset[int]:
    given = range(rank) if dim is None else dim if isinstance(dim, tuple | list) else (dim,)
    return frozenset(dimension_of(name, d, rank) for d in given) or frozenset(range(rank))


@lru_cache(maxsize=1024)
def _reduction(name: str, dim: Dimensions, stored: bool) -> CallSite:
    def prepare(operands: Sequence[Operand]) -> Prepared:
        rank = operands[0].ndim
        reduced = _reduced_dimensions(name, dim, rank)
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
def softmax(name: str, operand: SparseTensor, dim: int) -> Result:
    """softmax or log_softmax along a dimension, over the stored entries."""
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
