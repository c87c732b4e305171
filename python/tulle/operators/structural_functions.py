"""PyTorch's functions that index, join and reshape, on sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from tulle.operators import further_structure
from tulle.operators.masks import nonzero
from tulle.restructuring.table import restructure
from tulle.support.errors import Unsupported, UserError
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.torch_dispatch import Handler

# ---- joining -----------------------------------------------------------------------------------


def _cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    return restructure("cat", list(tensors), dim)


def _stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    return restructure("stack", list(tensors), dim)


def _with_rank(tensor: Any, rank: int) -> Any:
    """A sparse vector as a row where matrices are joined."""
    if not isinstance(tensor, SparseTensor):
        return tensor
    while tensor.ndim < rank:
        tensor = tensor.unsqueeze(0) if tensor.ndim < 2 else tensor.unsqueeze(-1)
    return tensor


def _hstack(tensors: Sequence[Any]) -> Any:
    given = list(tensors)
    return _cat(given, 0 if given and given[0].ndim == 1 else 1)


def _vstack(tensors: Sequence[Any]) -> Any:
    return _cat([_with_rank(tensor, 2) for tensor in tensors], 0)


def _dstack(tensors: Sequence[Any]) -> Any:
    return _cat([_with_rank(tensor, 3) for tensor in tensors], 2)


def _block_diag(*tensors: Any) -> Any:
    return restructure("block_diag", [_with_rank(tensor, 2) for tensor in tensors])


# ---- parts and shapes --------------------------------------------------------------------------


def _select(input: Any, dim: int, index: int) -> Any:
    return input.select(dim, index)


def _masked_select(input: Any, mask: Any) -> Any:
    if not isinstance(input, SparseTensor):
        return _getitem(input, mask)
    return input.masked_select(mask)


def _getitem(tensor: Any, index: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        return tensor[index]
    return tensor[_with_places(index)]


def _setitem(tensor: Any, index: Any, value: Any) -> None:
    if isinstance(value, SparseTensor):
        raise UserError("A dense tensor takes dense values; write value.to_dense().")
    tensor[_with_places(index)] = value


def _with_places(index: Any) -> Any:
    """The index of a dense tensor, with the coordinates of true elements for each sparse mask."""
    found: list[Any] = []
    for one in index if isinstance(index, tuple) else (index,):
        if not isinstance(one, SparseTensor):
            found.append(one)
        elif one.dtype != torch.bool:
            raise UserError(
                f"A sparse index is a mask of bool, but found {one.dtype}; convert an index tensor "
                "with to_dense()."
            )
        else:
            found += nonzero(one, as_tuple=True)
    return tuple(found)


def _roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    return input.roll(shifts, dims or None if not isinstance(dims, int) else dims)


def _tensor_split(
    input: Any,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
) -> Any:
    return input.tensor_split(indices_or_sections, dim, indices=indices, sections=sections)


def _embedding(
    input: Tensor,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """torch.nn.functional.embedding: the rows of a sparse matrix that an index tensor lists."""
    if padding_idx is not None or max_norm is not None or scale_grad_by_freq or sparse:
        raise Unsupported(
            "embedding: a sparse weight takes no further options; write weight[input]."
        )
    return weight[input]


def _squeeze(input: Any, dim: Any = None) -> Any:
    return input.squeeze(dim)


def _triangle(name: str) -> Handler:
    return lambda input, diagonal=0: getattr(input, name)(diagonal)


# ---- the table ---------------------------------------------------------------------------------

HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys((torch.cat, torch.concat, torch.concatenate), _cat),
    torch.stack: _stack,
    torch.hstack: _hstack,
    **dict.fromkeys((torch.vstack, torch.row_stack), _vstack),
    torch.dstack: _dstack,
    torch.block_diag: _block_diag,
    torch.kron: lambda input, other: restructure("kron", input, other),
    **dict.fromkeys((torch.select, torch.select_copy), _select),
    torch.narrow: lambda input, dim, start, length: input.narrow(dim, start, length),
    torch.narrow_copy: lambda input, dim, start, length: input.narrow(dim, start, length),
    torch.index_select: lambda input, dim, index: input.index_select(dim, index),
    torch.masked_select: _masked_select,
    Tensor.masked_select: _masked_select,
    Tensor.__getitem__: _getitem,
    Tensor.__setitem__: _setitem,
    torch.unbind: lambda input, dim=0: input.unbind(dim),
    torch.split: lambda tensor, split_size_or_sections, dim=0: tensor.split(
        split_size_or_sections, dim
    ),
    torch.chunk: lambda input, chunks, dim=0: input.chunk(chunks, dim),
    **dict.fromkeys(
        (torch.split_with_sizes, torch.unsafe_split_with_sizes),
        lambda input, split_sizes, dim=0: input.split(list(split_sizes), dim),
    ),
    torch.unsafe_split: lambda input, split_size, dim=0: input.split(split_size, dim),
    torch.unsafe_chunk: lambda input, chunks, dim=0: input.chunk(chunks, dim),
    torch.tensor_split: _tensor_split,
    torch.column_stack: further_structure.column_stack,
    torch.atleast_1d: further_structure.at_least(1),
    torch.atleast_2d: further_structure.at_least(2),
    torch.atleast_3d: further_structure.at_least(3),
    functional.pad: further_structure.pad,
    torch.constant_pad_nd: lambda input, pad, value=0: further_structure.pad(
        input, pad, value=value
    ),
    functional.embedding: _embedding,
    torch.linalg.diagonal: lambda A, *, offset=0, dim1=-2, dim2=-1: A.diagonal(offset, dim1, dim2),
    torch.diagonal_copy: lambda input, offset=0, dim1=0, dim2=1: input.diagonal(offset, dim1, dim2),
    torch.reshape: lambda input, shape: input.reshape(shape),
    torch.flatten: lambda input, start_dim=0, end_dim=-1: input.flatten(start_dim, end_dim),
    torch.ravel: lambda input: input.flatten(),
    torch.unflatten: lambda input, dim, sizes: input.unflatten(dim, sizes),
    torch.unsqueeze: lambda input, dim: input.unsqueeze(dim),
    torch.squeeze: _squeeze,
    torch.broadcast_to: lambda input, size: input.expand(size),
    torch.tile: lambda input, dims: input.tile(dims),
    torch.swapaxes: lambda input, axis0, axis1: input.swapaxes(axis0, axis1),
    torch.swapdims: lambda input, dim0, dim1: input.swapaxes(dim0, dim1),
    torch.adjoint: lambda input: input.adjoint(),
    torch.movedim: lambda input, source, destination: input.movedim(source, destination),
    torch.moveaxis: lambda input, source, destination: input.movedim(source, destination),
    torch.flip: lambda input, dims: input.flip(dims),
    torch.fliplr: lambda input: input.fliplr(),
    torch.flipud: lambda input: input.flipud(),
    torch.rot90: lambda input, k=1, dims=(0, 1): input.rot90(k, dims),
    torch.roll: _roll,
    torch.diagonal: lambda input, offset=0, dim1=0, dim2=1: input.diagonal(offset, dim1, dim2),
    torch.diag: lambda input, diagonal=0: input.diag(diagonal),
    torch.diag_embed: lambda input, offset=0, dim1=-2, dim2=-1: input.diag_embed(
        offset, dim1, dim2
    ),
    torch.tril: _triangle("tril"),
    torch.triu: _triangle("triu"),
    torch.trace: lambda input: input.trace(),
}
