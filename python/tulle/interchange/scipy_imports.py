"""Sparse tensors from SciPy's sparse matrices and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tulle.interchange.structure import checked, compressed_format, from_coordinates, in_order
from tulle.library import dtypes
from tulle.support.errors import Unsupported, UserError
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor


def from_scipy(data: Any) -> SparseTensor:
    """The tensor in the format that equals SciPy's, with shared memory where possible. Formats
    without an equal one become CSR, or COO if they are no matrices."""
    if len(data.shape) != 2:
        data = data.tocoo()
    if data.format in ("csr", "csc", "bsr"):
        return _from_scipy_compressed(data)
    if data.format == "coo":
        coordinates = data.coords if hasattr(data, "coords") else (data.row, data.col)
        for dimension, crd in enumerate(coordinates):
            _check_rank(data, f"coords[{dimension}]", crd, 1)
        _check_rank(data, "data", data.data, 1)
        crds = [_indices(crd) for crd in coordinates]
        pos = torch.tensor([0, crds[0].numel()], dtype=crds[0].dtype)
        return from_coordinates(tuple(data.shape), [pos, *crds], _from_numpy(data.data))
    if data.format == "dia":
        return _from_scipy_dia(data)
    return _from_scipy_compressed(data.tocsr())


def _from_scipy_dia(data: Any) -> SparseTensor:
    """SciPy stores the values of a diagonal by column, with the diagonals in any order; Tulle
    stores them by row, with the diagonals in ascending order."""
    _check_rank(data, "offsets", data.offsets, 1)
    _check_rank(data, "data", data.data, 2)
    rows, columns = data.shape
    offsets, order = torch.sort(_indices(data.offsets))
    shifted = _from_numpy(data.data)[order]
    values = shifted.new_zeros(offsets.numel(), rows)
    for at, offset in enumerate(offsets.tolist()):
        first = max(0, -offset)
        last = min(rows, columns - offset, shifted.shape[1] - offset)
        if first < last:
            values[at, first:last] = shifted[at, first + offset : last + offset]
    inside = (offsets > -rows) & (offsets < columns)
    offsets, values = offsets[inside], values[inside]
    pos = torch.tensor([0, offsets.numel()], dtype=offsets.dtype)
    format = Format("dia", 2)
    return checked(
        "the SciPy dia matrix", format, (rows, columns), [pos, offsets], values.reshape(-1)
    )


def _from_scipy_compressed(data: Any) -> SparseTensor:
    block = tuple(data.blocksize) if data.format == "bsr" else None
    for name in ("indptr", "indices"):
        _check_rank(data, name, getattr(data, name), 1)
    _check_rank(data, "data", data.data, 3 if block else 1)
    format = compressed_format(0, data.format != "csc", block, 0)
    # SciPy allows arrays that are longer than the last position says.
    used = max(0, int(data.indptr[-1])) if len(data.indptr) else 0
    arrays = [_indices(data.indptr), _indices(data.indices[:used])]
    values = _from_numpy(data.data[:used]).reshape(-1)
    loose = Format(format.long_form.replace("compressed", "compressed nonunique unordered"))
    name = f"the SciPy {data.format} matrix"
    return in_order(name, (format, loose), tuple(data.shape), arrays, values)


def _check_rank(data: Any, name: str, array: Any, rank: int) -> None:
    """Raises UserError unless an array of SciPy's object has this rank. SciPy checks the arrays
    that a constructor gets, but not the arrays that replace them later."""
    found = np.ndim(array)
    if found != rank:
        raise UserError(
            f"'{name}' of the SciPy {data.format} matrix has {found} dimensions instead of {rank}; "
            "make a new matrix from arrays of the right shape."
        )


# NumPy's names of the types that Tulle has.
_NUMPY_DTYPES = set(map(dtypes.torch_name, dtypes.NAMES)) - {"bfloat16"}


def _from_numpy(array: Any) -> Tensor:
    """A tensor that shares the memory of a contiguous, writable array; else of a copy."""
    array = np.ascontiguousarray(array)
    if array.dtype.name not in _NUMPY_DTYPES:
        instead = "pass dtype=torch.float32" if array.dtype.kind in "iuf" else "convert them first"
        raise Unsupported(f"Arrays of NumPy's type {array.dtype} are not supported; {instead}.")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def _indices(array: Any) -> Tensor:
    """The positions or coordinates of an array of integers of any type."""
    if array.dtype.kind in "iu" and array.dtype.name not in ("int32", "int64"):
        array = array.astype(np.int64)
    return _from_numpy(array)
