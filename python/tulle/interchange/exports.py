"""Sparse tensors as torch.sparse tensors and SciPy sparse arrays, in the same memory where
possible."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.support.errors import UserError, missing_package
from tulle.tensors.layout_methods import block_of, torch_kind
from tulle.tensors.own_memory import copied
from tulle.tensors.sparse_tensor import SparseTensor


def _block_of(source: SparseTensor) -> tuple[int, int]:
    """The rows and columns of a block."""
    return block_of(source.pattern)


def _kind_of(source: SparseTensor) -> str:
    """ "csr", "csc", "coo", "bsr" or "bsc" if torch and SciPy have the same storage, else ""."""
    return torch_kind(source.pattern)


_TORCH_COMPRESSED = {
    "csr": torch.sparse_csr_tensor,
    "csc": torch.sparse_csc_tensor,
    "bsr": torch.sparse_bsr_tensor,
    "bsc": torch.sparse_bsc_tensor,
}


def to_torch(source: SparseTensor) -> Tensor:
    """A torch.sparse tensor, which shares the values if its layout has the same arrays. PyTorch
    does not count writes to its structure with those to ours, so that is copied."""
    if is_compiling():
        raise UserError(
            "to_torch: torch.compile does not trace torch's sparse tensors; convert outside of the "
            "function that it traces, or use A.entries() or A.to_dense()."
        )
    source.pattern.ensure_checked()
    kind = _kind_of(source)
    shape = source.shape
    if kind in _TORCH_COMPRESSED:
        pos, crd = map(copied, source.pattern.arrays)
        values = source.values()
        if kind in ("bsr", "bsc"):
            values = values.view(-1, *_block_of(source))
        _let_torch_warn()
        return _TORCH_COMPRESSED[kind](pos, crd, values, shape, check_invariants=False)
    coo: SparseTensor = source if kind == "coo" else source.to(format="coo")
    crds = [array.to(torch.int64) for array in coo.pattern.arrays[1:]]
    indices = torch.stack(crds)
    return torch.sparse_coo_tensor(
        indices, coo.values(), shape, check_invariants=False, is_coalesced=True
    )


@cache
def _let_torch_warn() -> None:
    """Makes the first compressed tensor of the process. Torch warns then, and only then, that these
    tensors are in beta state, and some versions that their invariants are not checked. Neither
    warning concerns a conversion from Tulle."""
    with warnings.catch_warnings():
        for message in ("Sparse CSR tensor support is in beta", "Sparse invariant checks are"):
            warnings.filterwarnings("ignore", message, UserWarning)
        nothing = torch.zeros(1, dtype=torch.int64), torch.zeros(0, dtype=torch.int64)
        torch.sparse_csr_tensor(*nothing, torch.zeros(0), (0, 0), check_invariants=False)


def to_scipy(source: SparseTensor) -> Any:
    """A SciPy sparse array, which shares the values if SciPy has the same format."""
    try:
        from scipy import sparse
    except ImportError:
        raise missing_package("to_scipy", "SciPy", "scipy") from None
    if source.ndim != 2:
        raise UserError(
            f"to_scipy: SciPy's sparse arrays are matrices, but the tensor has rank {source.ndim}."
        )
    if source.device.type != "cpu":
        raise UserError(
            f"to_scipy: the tensor is on {source.device}, but SciPy's arrays are on the CPU; write "
            "A.cpu().to_scipy()."
        )
    source = source.detach()
    source.pattern.ensure_checked()
    kind = _kind_of(source)
    if kind == "coo":
        _, rows, columns = (copied(array).numpy() for array in source.pattern.arrays)
        return sparse.coo_array((source.values().numpy(), (rows, columns)), shape=source.shape)
    if kind in ("csr", "csc", "bsr"):
        pos, crd = (copied(array).numpy() for array in source.pattern.arrays)
        values = source.values()
        if kind == "bsr":
            values = values.view(-1, *_block_of(source))
        make = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[kind]
        return make((values.numpy(), crd, pos), shape=source.shape)
    if str(source.format) == "dia":
        return _to_scipy_dia(source, sparse.dia_array)
    return to_scipy(source.to(format="csr"))


def _to_scipy_dia(source: SparseTensor, make: Callable[..., Any]) -> Any:
    """SciPy stores the values of a diagonal by column, Tulle by row."""
    (_, offsets), (rows, columns) = map(copied, source.pattern.arrays), source.shape
    values = source.values().view(offsets.numel(), rows)
    shifted = values.new_zeros(offsets.numel(), columns)
    for at, offset in enumerate(offsets.tolist()):
        first, last = max(0, -offset), min(rows, columns - offset)
        if first < last:
            shifted[at, first + offset : last + offset] = values[at, first:last]
    return make((shifted.numpy(), offsets.numpy()), shape=source.shape)
