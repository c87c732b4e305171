"""Assignment to parts: `A[...] = value`. It changes stored values and never the pattern."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.programs.graph_calls import is_traced
from tulle.restructuring.entries import needs_merging
from tulle.restructuring.selecting import indexed
from tulle.support.arguments import common_shape
from tulle.support.errors import OutOfRange, Unsupported, UserError
from tulle.support.kinds import is_number
from tulle.tensors.matching import keys_of
from tulle.tensors.sparse_tensor import SparseTensor


def assigned(target: SparseTensor, index: Any, value: Any) -> None:
    """Sets the elements that an index selects. Raises UserError if an element without an entry
    would become another number than 0."""
    if is_traced([target]):
        raise Unsupported(
            "torch.compile does not record assignments to parts of sparse tensors; use torch.where "
            "or A * mask, which return a new tensor."
        )
    if needs_merging(target.format):
        raise UserError(
            f"A[...] = value: the format {target.format} may hold a coordinate several times; "
            'convert the tensor first: A = A.to(format="csr").'
        )
    values = target._values
    # The slots, counted from 1, in place of the values; elements without an entry have 0.
    listed = torch.arange(1, values.numel() + 1, device=values.device)
    chosen = indexed(target.with_values(listed), index)
    shape = tuple(chosen.shape)
    if isinstance(chosen, SparseTensor):
        coordinates, numbers = chosen.entries()
    else:
        coordinates, numbers = _held(chosen)
    if is_number(value):
        if value != 0 and numbers.numel() < chosen.numel():
            raise _misfit()
        given = values.new_full((), value, dtype=values.dtype)
    elif isinstance(value, SparseTensor):
        given = _of_sparse(value, coordinates, shape)
    else:
        given = _of_dense(value, coordinates, shape, values)
    target.values().index_put_((numbers - 1,), given.to(values.dtype))


def _held(chosen: Tensor) -> tuple[Tensor, Tensor]:
    """The coordinates and the numbers of the elements that have an entry."""
    coordinates = (chosen != 0).nonzero().T
    return coordinates, chosen[chosen != 0]


def _of_dense(value: Any, coordinates: Tensor, shape: tuple[int, ...], like: Tensor) -> Tensor:
    """The elements of a dense tensor, which broadcasts to the shape, at the coordinates."""
    dense = torch.as_tensor(value, dtype=None, device=like.device)
    if common_shape("A[...] = value", [shape, dense.shape]) != shape:
        raise OutOfRange(
            f"A[...] = value: a value of the shape {list(dense.shape)} does not fit a part of the "
            f"shape {list(shape)}."
        )
    whole = dense.expand(shape)
    found = whole[tuple(coordinates)] if shape else whole.expand(coordinates.shape[1])
    if int(whole.count_nonzero()) != int(found.count_nonzero()):
        raise _misfit()
    return found


def _of_sparse(value: SparseTensor, coordinates: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The elements of a sparse tensor of the shape at the coordinates."""
    if tuple(value.shape) != shape:
        raise OutOfRange(
            f"A[...] = value: a sparse value has the shape of the part, {list(shape)}, not "
            f"{list(value.shape)}."
        )
    own, values = value.coalesce().entries()
    stored = values.detach() != 0
    own, values = own[:, stored], values[stored]
    keys = keys_of(torch.cat([own, coordinates], dim=1), shape)
    given, wanted = keys.split([own.shape[1], coordinates.shape[1]])
    given, order = given.sort()
    places = torch.searchsorted(given, wanted).clamp(max=max(given.numel() - 1, 0))
    is_given = given[places] == wanted if given.numel() else torch.zeros_like(wanted).bool()
    if int(is_given.sum()) != given.numel():
        raise _misfit()
    if not given.numel():
        return values.new_zeros(wanted.numel())
    return torch.where(is_given, values[order[places]], 0)


def _misfit() -> UserError:
    return UserError(
        "A[...] = value: an element without an entry would become another number than 0, and "
        "assignments do not add entries. Add a tensor with the new entries, "
        "A = A + tulle.from_edge_index([rows, columns], values, shape=A.shape), or assign to "
        "x = A.to_dense() and convert it: A = tulle.tensor(x)."
    )
