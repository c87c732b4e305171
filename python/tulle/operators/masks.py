"""Choices by masks: where, masked_fill, sparse_mask, products sampled at entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.operators.alignment import ones_like, values_at, with_single_entries
from tulle.operators.index_notation import access
from tulle.operators.pointwise import handler_of
from tulle.operators.pointwise_table import BY_FUNCTION
from tulle.programs.call_sites import CallSite, Prepared
from tulle.programs.operands import as_operand
from tulle.programs.program import Result, statement_program
from tulle.restructuring.level_storage import order_of
from tulle.support.arguments import common_shape
from tulle.support.errors import UserError
from tulle.tensors.composite_pattern import joined
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor

_where = handler_of(BY_FUNCTION[torch.where])


def where(condition: Any, input: Any = None, other: Any = None) -> Result:
    """`input` where the condition is not 0, else `other`. Without both, the coordinates at which
    the condition is not 0."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise UserError("where: expected where(condition, input, other) or where(condition).")
    result: Result = _where(condition, input, other)
    return result


def where_method(self: Any, condition: Any, other: Any) -> Result:
    """`self` where the condition is not 0, else `other`."""
    return where(condition, self, other)


def masked_fill(input: Any, mask: Any, value: Any) -> Result:
    """`value` where the mask is true, else `input`, in the type of `input`."""
    return where(mask, value, input).to(input.dtype)


def nonzero(input: SparseTensor, *, as_tuple: bool = False) -> Any:
    """The coordinates of the elements that are not 0, [n, rank], in row-major order; with
    `as_tuple` one vector for each dimension."""
    coordinates, values = with_single_entries(input).entries()
    found = coordinates.index_select(1, (values.detach() != 0).nonzero()[:, 0])
    places = order_of(found, input.shape, range(input.ndim))
    found = found if places is None else found.index_select(1, places)
    return tuple(found.unbind()) if as_tuple else found.T.contiguous()


@recorded
def sparse_mask(input: Any, mask: Any) -> SparseTensor:
    """The elements of a tensor at the entries of a sparse one, with the pattern of that."""
    if not isinstance(mask, SparseTensor):
        raise UserError(
            "sparse_mask: the mask must be a tensor of Tulle; convert it with tulle.tensor(mask)."
        )
    operand = as_operand("the input", input)
    if common_shape("sparse_mask", [operand.shape, mask.shape]) != tuple(operand.shape):
        raise UserError(
            f"sparse_mask: the mask has the shape {list(mask.shape)}, but the input "
            f"{list(operand.shape)}."
        )
    target = with_single_entries(mask)
    return SparseTensor(target._pattern, values_at(operand, target))


# ---- products at entries -------------------------------------------------------------------------


@recorded
def sampled_addmm(
    input: SparseTensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0
) -> SparseTensor:
    """alpha * (mat1 @ mat2) at the entries of `input`, plus beta * input."""
    if not isinstance(input, SparseTensor):
        raise UserError("sampled_addmm: the first argument must be a tensor of Tulle.")
    input = with_single_entries(input)
    pattern = input._pattern
    ones = ones_like(input, mat1.dtype)
    if input.format.is_composite:
        pieces = [_SAMPLED.run((part, mat1, mat2))._values for part in ones.parts()]
        values = joined(pattern, pieces)
    else:
        sampled: SparseTensor = _SAMPLED.run((ones, mat1, mat2))
        pattern, values = sampled._pattern, sampled._values
    values = values if alpha == 1 else values * alpha
    product = SparseTensor(pattern, values)
    if beta == 0:
        return product
    scaled = input if beta == 1 else input * beta
    if scaled._pattern is pattern:
        return SparseTensor(pattern, values + scaled._values)
    result: SparseTensor = scaled + product
    return result


def _prepare_sampled(operands: Sequence[Any]) -> Prepared:
    rank = operands[0].ndim
    batch = [f"b{n}" for n in range(rank - 2)]
    sampled = access("A", [*batch, "i", "j"])
    left, right = access("X", [*batch, "i", "d"]), access("Y", [*batch, "d", "j"])
    text = f"{access('S', [*batch, 'i', 'j'])} = {sampled} * {left} * {right}"
    return statement_program(text), ("A", "X", "Y"), operands


_SAMPLED = CallSite(_prepare_sampled, is_product=True)
