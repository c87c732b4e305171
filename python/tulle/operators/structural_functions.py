"""PyTorch's functions that index, join and reshape, on sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.restructuring.table import restructure
from tulle.support.errors import UserError
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
        raise UserError(
            "masked_select: a dense tensor takes a dense mask; convert the mask with to_dense()."
        )
    return input.masked_select(mask)


def _getitem(tensor: Any, index: Any) -> Any:
    if not isinstance(tensor, SparseTensor):
        raise UserError(
            "A dense tensor takes dense masks and index tensors; convert the index with to_dense()."
        )
    return tensor[index]


def _roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    return input.roll(shifts, dims or None if not isinstance(dims, int) else dims)


def _hsplit(input: Any, indices_or_sections: Any) -> Any:
    return _split_evenly("hsplit", input, indices_or_sections, 0 if input.ndim == 1 else 1)


def _vsplit(input: Any, indices_or_sections: Any) -> Any:
    return _split_evenly("vsplit", input, indices_or_sections, 0)


def _split_evenly(name: str, input: Any, pieces: Any, dim: int) -> Any:
    if isinstance(pieces, int) and (pieces < 1 or input.shape[dim] % pieces):
        raise UserError(
            f"{name}: dimension {dim} of size {input.shape[dim]} does not split into {pieces} "
            "equal pieces."
        )
    return input.tensor_split(pieces, dim)


def _diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    matrices = input.diag_embed(offset)
    return matrices if (dim1, dim2) == (-2, -1) else matrices.movedim((-2, -1), (dim1, dim2))


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
    torch.unbind: lambda input, dim=0: input.unbind(dim),
    torch.split: lambda tensor, split_size_or_sections, dim=0: tensor.split(
        split_size_or_sections, dim
    ),
    torch.chunk: lambda input, chunks, dim=0: input.chunk(chunks, dim),
    torch.tensor_split: lambda input, indices_or_sections, dim=0: input.tensor_split(
        indices_or_sections, dim
    ),
    torch.hsplit: _hsplit,
    torch.vsplit: _vsplit,
    torch.reshape: lambda input, shape: input.reshape(shape),
    torch.flatten: lambda input, start_dim=0, end_dim=-1: input.flatten(start_dim, end_dim),
    torch.ravel: lambda input: input.flatten(),
    torch.unflatten: lambda input, dim, sizes: input.unflatten(dim, sizes),
    torch.unsqueeze: lambda input, dim: input.unsqueeze(dim),
    torch.squeeze: _squeeze,
    torch.broadcast_to: lambda input, size: input.expand(size),
    torch.tile: lambda input, dims: input.tile(dims),
    torch.swapaxes: lambda input, axis0, axis1: input.transpose(axis0, axis1),
    torch.swapdims: lambda input, dim0, dim1: input.transpose(dim0, dim1),
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
    torch.diag_embed: _diag_embed,
    torch.tril: _triangle("tril"),
    torch.triu: _triangle("triu"),
    torch.trace: lambda input: input.trace(),
}
