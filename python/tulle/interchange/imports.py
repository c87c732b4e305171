"""Makes sparse tensors from what others store: torch, SciPy, numpy, raw levels. Copies nothing
where the storage agrees, and checks all structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import torch
from torch import Tensor

from tulle.interchange.scipy_imports import from_scipy
from tulle.interchange.structure import checked
from tulle.interchange.torch_imports import from_torch_sparse, refuse_gradient
from tulle.library import devices, dtypes
from tulle.operators import conversions
from tulle.programs.operands import as_dense, is_scipy
from tulle.support.arguments import shape_of
from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


@overload
def tensor(
    data: Any, format: Literal["dense"], index_dtype: torch.dtype | None = None
) -> Tensor: ...
@overload
def tensor(
    data: Any, format: str | Format | None = None, index_dtype: torch.dtype | None = None
) -> SparseTensor: ...
def tensor(
    data: Any, format: str | Format | None = None, index_dtype: torch.dtype | None = None
) -> SparseTensor | Tensor:
    """A sparse tensor of `data`: a tensor of torch's (dense, CSR, CSC, COO, BSR, BSC), a sparse
    matrix of SciPy's, an array of numpy's or nested lists.

    Without `format` it is stored as it came, without a copy where Tulle can; what was dense becomes
    CSR (rank 2) or CSF. Of dense data the entries that are not zero are stored. "dense" gives an
    ordinary tensor. `index_dtype` is int32 or int64; without it, it stays as it came.
    """
    if index_dtype is not None and index_dtype not in dtypes.INDEX_DTYPES:
        raise UserError(
            f"index_dtype: expected torch.int32 or torch.int64, but found {index_dtype}."
        )
    if isinstance(data, SparseTensor):
        source = data
    elif isinstance(data, Tensor) and data.layout != torch.strided:
        source = from_torch_sparse(data)
    elif is_scipy(data):
        source = from_scipy(data)
    else:
        dense = data if isinstance(data, Tensor) else as_dense("tensor", data)
        if format is not None and Format(format).is_dense:
            return dense
        source = _from_dense(dense)
        if format is None and source.ndim != 1:
            format = "csr" if source.ndim == 2 else "csf"
    result = source.to(format=format)
    if index_dtype is not None and isinstance(result, SparseTensor):
        result = conversions.with_index_dtype(result, index_dtype)
    return result


def from_levels(
    format: str | Format,
    shape: Sequence[int],
    levels: Sequence[Mapping[str, Any]],
    values: Any,
) -> SparseTensor:
    """A sparse tensor of raw storage: for each level a dict with the arrays that it stores, `pos`
    and `crd` (`bits` for bitmaps, none for dense levels and ranges), and the values in storage
    order. Nothing is copied."""
    known = Format(format)
    sizes = shape_of("from_levels", shape)
    known = known.of_rank(len(sizes))
    if isinstance(levels, (Mapping, str)) or not all(isinstance(one, Mapping) for one in levels):
        raise UserError(
            "from_levels: levels is a list with a dict for each level, outermost first, as "
            "[{}, {'pos': pos, 'crd': crd}] for csr; give the arrays in that form."
        )
    if known.is_dense:
        raise UserError("from_levels: a dense tensor has no structure; use an ordinary tensor.")
    if len(levels) != len(known.levels):
        raise UserError(
            f"from_levels: the format {known.long_form} has {len(known.levels)} levels, but "
            f"{len(levels)} were given; give an empty dict for one that stores nothing."
        )
    arrays: list[Tensor] = []
    for at, (level, given) in enumerate(zip(known.levels, levels, strict=True)):
        stored = level.arrays
        if sorted(given) != sorted(stored):
            raise UserError(
                f"from_levels: level {at} of {known.long_form} stores "
                f"{' and '.join(stored) or 'nothing'}, but {sorted(given) or 'nothing'} was given."
            )
        arrays += [_as_vector(f"{name} of level {at}", given[name]) for name in stored]
    return checked("from_levels", known, sizes, arrays, _as_vector("values", values))


def _as_vector(name: str, data: Any) -> Tensor:
    vector = data if isinstance(data, Tensor) else as_dense(name, data)
    if vector.layout != torch.strided or vector.ndim != 1:
        raise UserError(f"{name}: expected a vector, but found the shape {list(vector.shape)}.")
    return (
        vector.detach().contiguous() if vector.dtype in dtypes.INDEX_DTYPES else vector.contiguous()
    )


def _from_dense(dense: Tensor) -> SparseTensor:
    """The entries that are not zero, as sorted COO."""
    refuse_gradient(dense)
    devices.check("The tensor", dense.device)
    if dense.ndim == 0:
        raise UserError("A scalar cannot be stored sparsely; use it as it is.")
    dtypes.name_of(dense.dtype)
    dense = dense.detach()
    shape = tuple(dense.shape)
    found = torch.nonzero(dense, as_tuple=True)
    index_dtype = dtypes.fitting_index_dtype(shape, found[0].numel())
    pos = torch.tensor([0, found[0].numel()], dtype=index_dtype, device=dense.device)
    arrays = (pos, *(crd.to(index_dtype) for crd in found))
    return SparseTensor(
        Pattern(Format("coo", len(shape)), shape, arrays, index_dtype), dense[found]
    )
