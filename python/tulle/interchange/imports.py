"""`tulle.tensor`: sparse tensors of what others store."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Literal, overload

import numpy as np
import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.interchange.arrays import as_dense
from tulle.interchange.graphs import from_graph, is_graph
from tulle.interchange.scipy_imports import from_scipy
from tulle.interchange.torch_imports import from_torch_sparse
from tulle.library import devices, dtypes
from tulle.support.errors import UserError
from tulle.support.kinds import is_scipy
from tulle.tensors.entry_lists import bounds
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.held_structure import hold_in_advance
from tulle.tensors.own_memory import is_plain, sharing
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor


@overload
def tensor(
    data: Any,
    format: Literal["dense"],
    index_dtype: torch.dtype | None = None,
    *,
    copy: bool | None = None,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor: ...
@overload
def tensor(
    data: Any,
    format: str | Format | None = None,
    index_dtype: torch.dtype | None = None,
    *,
    copy: bool | None = None,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor: ...
def tensor(
    data: Any,
    format: str | Format | None = None,
    index_dtype: torch.dtype | None = None,
    *,
    copy: bool | None = None,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor | Tensor:
    """A sparse tensor of `data`: a tensor of torch (dense, CSR, CSC, COO, BSR, BSC), a sparse
    matrix of SciPy, a NumPy array, nested lists, a graph of networkx, or a graph or an EdgeIndex of
    torch-geometric.

    Without `format` sparse data keeps its format, without a copy where possible; dense data becomes
    CSR (rank 2) or CSF. The nonzero elements of dense data are stored. "dense" gives an ordinary
    tensor. `index_dtype` is int32 or int64; without it the type of the indices stays.

    Structure is copied if PyTorch does not count all writes to it: structure of SciPy or NumPy, in
    memory of a file or of another process. With `copy=False` it is shared, and the caller must not
    write to it. With `copy=True` the values are copied too.

    The values are converted to `dtype`, and the tensor moved to `device`. Gradients reach `data`;
    with `requires_grad=True` the result is a leaf of its own unless `data` requires a gradient.
    """
    if dtype is not None:
        dtypes.name_of(dtype)
        data = _numbers_as(data, dtype)
    if is_compiling():
        if not isinstance(data, SparseTensor | Tensor | list | tuple):
            raise UserError(
                "tulle.tensor: torch.compile takes tensors as data; convert other data outside of "
                "the function that it traces."
            )
        result = _tensor_in_graph(data, format, index_dtype, bool(copy))
    else:
        with sharing(copy is False):
            result = _tensor(data, format, index_dtype)
        if copy:
            result = deepcopy(result)
    if device is not None or dtype is not None:
        result = result.to(device=device, dtype=dtype)
    if isinstance(result, SparseTensor) and not is_compiling():
        hold_in_advance(result.pattern)
    if requires_grad and not result.requires_grad:
        result = result.detach().requires_grad_()
    return result


@recorded
def _tensor_in_graph(
    data: Any, format: str | Format | None, index_dtype: torch.dtype | None, copy: bool
) -> SparseTensor | Tensor:
    result = _tensor(data, format, index_dtype)
    return result.clone() if copy else result


def _numbers_as(data: Any, dtype: torch.dtype) -> Any:
    """Nested lists, and data of real types that Tulle does not have, as data of this type. Lists
    get no intermediate type that would round."""
    if isinstance(data, Tensor):
        return data if data.dtype in dtypes.NAMES or data.is_complex() else data.to(dtype)
    if isinstance(data, np.ndarray) or is_scipy(data):
        is_known = data.dtype.name in map(dtypes.torch_name, dtypes.NAMES)
        if is_known or data.dtype.kind not in "iuf":
            return data
        name = dtypes.torch_name(dtype)
        return data.astype("float32" if name == "bfloat16" else name)
    if not isinstance(data, list | tuple):
        return data
    try:
        return torch.tensor(data, dtype=dtype)
    except (TypeError, ValueError, RuntimeError):
        return data  # `_tensor` raises the error


def _tensor(
    data: Any, format: str | Format | None, index_dtype: torch.dtype | None
) -> SparseTensor | Tensor:
    if index_dtype is not None and index_dtype not in dtypes.INDEX_DTYPES:
        raise UserError(
            f"index_dtype: expected torch.int32 or torch.int64, but found {index_dtype}."
        )
    if isinstance(data, SparseTensor):
        source = data
    elif is_graph(data):
        source = from_graph(data)
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
        result = _with_index_dtype(result, index_dtype)
    return result


def _from_dense(dense: Tensor) -> SparseTensor:
    """The nonzero elements as sorted COO. Autograd follows them."""
    devices.check("The tensor", dense.device)
    if dense.ndim == 0:
        raise UserError("A scalar cannot be stored sparsely; use it as it is.")
    dtypes.name_of(dense.dtype)
    shape = tuple(dense.shape)
    found = torch.nonzero(dense.detach(), as_tuple=True)
    index_dtype = dtypes.smallest_index_dtype(shape, found[0].shape[0])
    pos = bounds(found[0].shape[0], index_dtype, dense.device)
    arrays = (pos, *(crd.to(index_dtype) for crd in found))
    is_checked = is_plain(pos)
    make = Pattern._of_valid if is_checked else Pattern
    pattern = make(Format("coo", len(shape)), shape, arrays, index_dtype)
    return SparseTensor(pattern, dense[found])


def _with_index_dtype(source: SparseTensor, dtype: torch.dtype) -> SparseTensor:
    """The same tensor with positions and coordinates of another type."""
    pattern = source.pattern
    if dtype == pattern.index_dtype:
        return source
    count = source.values().shape[0]
    smallest = dtypes.smallest_index_dtype(pattern.shape, count)
    if dtype == torch.int32 and smallest == torch.int64:
        largest = max(count, *pattern.shape)
        raise UserError(f"int32 cannot count to {largest}; omit index_dtype, or use int64.")
    converted = pattern.with_each(
        lambda array: array if array.dtype == torch.bool else array.to(dtype), dtype
    )
    return SparseTensor(converted, source.values())
