"""PyTorch's functions that look up single elements of sparse tensors, or list their values."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tulle.operators.alignment import with_single_entries
from tulle.operators.masks import masked_fill
from tulle.programs.program import Result
from tulle.support.arguments import dimension_of
from tulle.support.errors import Unsupported, UserError
from tulle.tensors.sparse_tensor import SparseTensor

_INDICES = (torch.int32, torch.int64)


def gather(input: SparseTensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """The elements whose coordinate along `dim` is in `index`, and whose others are those of the
    place in `index`. The result has the shape of `index` and is dense, as it is no larger."""
    _check_index("gather", index)
    at = dimension_of("gather", dim, input.ndim)
    if index.ndim != input.ndim:
        raise UserError(
            f"gather: the index has rank {index.ndim}, but the tensor has rank {input.ndim}; both "
            "must be equal."
        )
    pairs = enumerate(zip(index.shape, input.shape, strict=True))
    if any(n > size and d != at for d, (n, size) in pairs):
        raise UserError(
            f"gather: an index of the shape {list(index.shape)} does not fit a tensor of the shape "
            f"{list(input.shape)}: only dimension {at} may be larger."
        )
    return _elements(input, at, index)


def take_along_dim(input: SparseTensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """As `gather`, with sizes of 1 broadcast. Without `dim`, as `take` for a vector of indices."""
    _check_index("take_along_dim", indices)
    if dim is None:
        return take(input, indices.reshape(-1))
    at = dimension_of("take_along_dim", dim, input.ndim)
    if indices.ndim != input.ndim:
        raise UserError(
            f"take_along_dim: the indices have rank {indices.ndim}, but the tensor has rank "
            f"{input.ndim}; both must be equal."
        )
    pairs = enumerate(zip(indices.shape, input.shape, strict=True))
    if any(d != at and 1 not in (n, size) and n != size for d, (n, size) in pairs):
        raise UserError(
            f"take_along_dim: indices of the shape {list(indices.shape)} do not fit a tensor of "
            f"the shape {list(input.shape)}."
        )
    wanted = [
        n if d == at or size == 1 else size
        for d, (n, size) in enumerate(zip(indices.shape, input.shape, strict=True))
    ]
    return _elements(input, at, indices.expand(wanted))


def _elements(input: SparseTensor, dim: int, index: Tensor) -> Tensor:
    places = []
    for d, size in enumerate(input.shape):
        count = index.shape[d]
        along = torch.arange(count, device=index.device) if size != 1 else index.new_zeros(count)
        places.append(along.reshape([count if d == at else 1 for at in range(index.ndim)]))
    places[dim] = index
    found: Tensor = input[tuple(places)]
    return found


def take(input: SparseTensor, index: Tensor) -> Tensor:
    """The elements with these numbers in row-major order, as a dense tensor of the index's
    shape."""
    _check_index("take", index)
    total = input.numel()
    rest = index.to(torch.int64)
    rest = torch.where(rest < 0, rest + total, rest)
    # A number that is outside leads to a first coordinate that does not exist.
    rest = torch.where(rest < 0, total, rest)
    places: list[Tensor] = []
    for size in reversed(input.shape[1:]):
        places.insert(0, rest % size)
        rest = torch.div(rest, size, rounding_mode="floor")
    place: Any = (rest, *places)
    found: Tensor = input[place]
    return found


def index_fill(input: SparseTensor, dim: int, index: Tensor, value: Any) -> Result:
    """The tensor with `value` at these coordinates of a dimension: sparse with the same entries for
    the value 0, else dense."""
    _check_index("index_fill", index)
    at = dimension_of("index_fill", dim, input.ndim)
    size = input.shape[at]
    places = index.reshape(-1).to(torch.int64)
    chosen = torch.zeros(size, dtype=torch.bool, device=input.device)
    chosen[places] = True
    return masked_fill(input, chosen.reshape(-1, *[1] * (input.ndim - 1 - at)), value)


def _check_index(caller: str, index: Any) -> None:
    if not isinstance(index, Tensor) or index.dtype not in _INDICES:
        found = index.dtype if isinstance(index, Tensor) else type(index).__name__
        raise UserError(f"{caller}: the index is a dense tensor of int64, but found {found}.")


def unique(
    input: SparseTensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements in ascending order, and how often each occurs. Absent elements count
    as 0."""
    if return_inverse:
        raise Unsupported(
            "unique: return_inverse= asks for a dense tensor of the size of the input; write "
            "torch.unique(A.values(), return_inverse=True) for the stored values."
        )
    if dim is not None:
        raise Unsupported("unique: dim= is not supported; convert the tensor with to_dense().")
    _, values = with_single_entries(input).entries()
    found, counts = torch.unique(values.detach(), return_counts=True)
    absent = input.numel() - values.numel()
    if absent:
        zero = found.new_zeros(1)
        at = int((found < 0).sum())
        is_stored = bool((found[at : at + 1] == 0).any())
        after = at + is_stored
        stored = int(counts[at]) if is_stored else 0
        found = torch.cat([found[:at], zero, found[after:]])
        counts = torch.cat([counts[:at], counts.new_tensor([stored + absent]), counts[after:]])
    return (found, counts) if return_counts else found
