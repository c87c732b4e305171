"""Sparse tensors from torch's layouts: CSR, CSC, COO, BSR, BSC, with batch and dense dimensions."""

from __future__ import annotations

import torch
from torch import Tensor

from tulle.interchange.structure import checked, compressed_format, from_coordinates
from tulle.library import devices
from tulle.support.errors import Unsupported, UserError
from tulle.tensors.sparse_tensor import SparseTensor

# For each compressed layout: the methods that return its positions and coordinates, whether it is
# compressed by rows, and whether it has blocks.
_COMPRESSED: dict[torch.layout, tuple[str, str, bool, bool]] = {
    torch.sparse_csr: ("crow_indices", "col_indices", True, False),
    torch.sparse_csc: ("ccol_indices", "row_indices", False, False),
    torch.sparse_bsr: ("crow_indices", "col_indices", True, True),
    torch.sparse_bsc: ("ccol_indices", "row_indices", False, True),
}


def from_torch_sparse(data: Tensor) -> SparseTensor:
    """The tensor in the format that equals its layout, with shared memory where possible. Autograd
    follows the values of a tensor that requires a gradient; they are copied."""
    devices.check("The tensor", data.device)
    if data.layout == torch.sparse_coo:
        return _from_torch_coo(data)
    if data.layout in _COMPRESSED:
        return _from_torch_compressed(data)
    raise Unsupported(f"Tensors of the layout {data.layout} are not supported; use a dense tensor.")


def _values_of(data: Tensor) -> Tensor:
    """The values with a version counter of their own. PyTorch has one counter for all parts of a
    sparse tensor, so that writing to values would look like writing to the structure."""
    if data.requires_grad and torch.is_grad_enabled():
        return data.values().clone()
    own = data.detach()
    return (own._values() if own.layout == torch.sparse_coo else own.values()).data


def _from_torch_coo(data: Tensor) -> SparseTensor:
    if data.requires_grad and torch.is_grad_enabled():
        data = data.coalesce()  # the values of other tensors have no gradient
    indices, values = data.detach()._indices(), _values_of(data)
    pos = torch.tensor([0, indices.shape[1]], dtype=torch.int64, device=data.device)
    dense_sizes = tuple(data.shape[data.sparse_dim() :])
    if data.sparse_dim() == 0:
        raise Unsupported("A sparse tensor without sparse dimensions is not supported.")
    return from_coordinates(tuple(data.shape), [pos, *indices], values, len(dense_sizes))


def _from_torch_compressed(data: Tensor) -> SparseTensor:
    pos_of, crd_of, by_rows, has_blocks = _COMPRESSED[data.layout]
    structure = data.detach()
    pos, crd = getattr(structure, pos_of)(), getattr(structure, crd_of)()
    values = _values_of(data)
    batches = pos.ndim - 1
    block = tuple(values.shape[batches + 1 : batches + 3]) if has_blocks else None
    dense = values.ndim - batches - (3 if has_blocks else 1)
    format = compressed_format(batches, by_rows, block, dense)
    arrays = [_joined_positions(pos) if batches else pos, crd.reshape(-1)]
    name = str(data.layout).removeprefix("torch.")
    return checked(f"the {name} tensor", format, tuple(data.shape), arrays, values.reshape(-1))


def _joined_positions(pos: Tensor) -> Tensor:
    """Positions that continue from batch to batch; torch restarts them at 0 in each. A wrong last
    position stays wrong, and the check of the structure refuses it."""
    lists = pos.reshape(-1, pos.shape[-1])
    starts = torch.cumsum(lists[:, -1], 0, dtype=pos.dtype) - lists[:, -1]
    if not bool((lists[:, 0] == 0).all()):
        raise UserError("Positions must start at 0 in each batch, but those of one batch do not.")
    running = lists + starts[:, None]
    return torch.cat([running[:, :-1].reshape(-1), running[-1:, -1]])
