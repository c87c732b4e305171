"""Sparse tensors without input data: identities, diagonals, tensors without entries, and tensors
like another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.interchange.arrays import as_dense
from tulle.library import devices, dtypes
from tulle.support.arguments import shape_of
from tulle.support.errors import UserError
from tulle.tensors.entry_lists import from_entries
from tulle.tensors.formats import Format
from tulle.tensors.graph_boundary import recorded
from tulle.tensors.sparse_tensor import SparseTensor


def eye(
    n: int,
    m: int | None = None,
    *,
    format: str | Format = "csr",
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """The matrix of n rows and m columns (default n) with ones on the main diagonal."""
    return _with_gradient(_eye(n, n if m is None else m, format, dtype, device), requires_grad)


@recorded
def _eye(
    n: int, m: int, format: str | Format, dtype: torch.dtype | None, device: Any
) -> SparseTensor:
    shape = shape_of("eye", (n, m))
    ones = torch.ones(min(shape), **placement("eye", dtype, device))
    return _on_diagonal(ones, shape, 0, format)


@recorded
def diag(
    values: Any,
    offset: int = 0,
    *,
    shape: Sequence[int] | None = None,
    format: str | Format = "csr",
) -> SparseTensor:
    """The matrix with these values on a diagonal: the main one, or with `offset` one that lies that
    far to the right of it (to the left if it is negative). Every value becomes an entry, zeros as
    well. Gradients reach `values`. Without `shape` the matrix is square and just large enough."""
    if isinstance(values, SparseTensor):
        raise UserError(
            "diag: expected an ordinary vector, but found a sparse tensor; write tulle.diag("
            "v.to_dense()), or torch.diag(v) for a matrix that stores the entries of v only."
        )
    vector = values if isinstance(values, Tensor) else as_dense("diag", values)
    if vector.ndim != 1:
        raise UserError(
            f"diag: expected a vector, but found the shape {list(vector.shape)}; the diagonal of a "
            'sparse matrix is tulle.einsum("ii->i", A).'
        )
    if isinstance(offset, bool) or not isinstance(offset, int):
        raise UserError(f"diag: the offset is an integer, but found {offset!r}.")
    dtypes.name_of(vector.dtype)
    devices.check("The vector", vector.device)
    size = vector.numel() + abs(offset)
    sizes = (size, size) if shape is None else shape_of("diag", shape)
    if len(sizes) != 2:
        raise UserError(f"diag: the shape of a matrix has two sizes, but found {sizes}.")
    length = max(0, min(sizes[0] + min(offset, 0), sizes[1] - max(offset, 0)))
    if length != vector.numel():
        raise UserError(
            f"diag: diagonal {offset} of a {sizes[0]} x {sizes[1]} matrix has {length} elements, "
            f"but the vector has {vector.numel()}."
        )
    return _on_diagonal(vector, sizes, offset, format)


def _on_diagonal(
    values: Tensor, shape: tuple[int, ...], offset: int, format: str | Format
) -> SparseTensor:
    along = torch.arange(values.numel(), device=values.device)
    coordinates = torch.stack([along + max(-offset, 0), along + max(offset, 0)])
    return from_entries(SparseTensor, format, shape, coordinates, values, is_sorted=True)


def zeros(
    *size: Any,
    format: str | Format | None = None,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """A tensor without entries: zeros(3, 4) or zeros((3, 4)). The format is csr for matrices, coo
    for vectors, else csf."""
    given = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return _with_gradient(_zeros(given, format, dtype, device), requires_grad)


@recorded
def _zeros(
    size: Any, format: str | Format | None, dtype: torch.dtype | None, device: Any
) -> SparseTensor:
    shape = tensor_shape("zeros", size)
    values = torch.zeros(0, **placement("zeros", dtype, device))
    none = torch.zeros(len(shape), 0, dtype=torch.int64, device=values.device)
    format = default_format(len(shape)) if format is None else format
    return from_entries(SparseTensor, format, shape, none, values, is_sorted=True)


# ---- like another tensor -------------------------------------------------------------------------


def full_like(
    input: SparseTensor,
    fill_value: float,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """A tensor with the same entries, each with this value. Coordinates without an entry stay
    without one, as in torch.full_like of a torch.sparse_csr tensor."""
    return _filled("full_like", input, fill_value, dtype, device, requires_grad)


def zeros_like(
    input: SparseTensor,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """A tensor with the same entries, each with the value 0. `A.new_zeros(A.shape)` is a tensor
    without entries."""
    return _filled("zeros_like", input, 0, dtype, device, requires_grad)


def ones_like(
    input: SparseTensor,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """A tensor with the same entries, each with the value 1."""
    return _filled("ones_like", input, 1, dtype, device, requires_grad)


def rand_like(
    input: SparseTensor,
    *,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """A tensor with the same entries, with random values between 0 and 1."""
    like = _like("rand_like", input, dtype, device)
    values = torch.empty_like(like.values()).uniform_(generator=generator)
    return _with_gradient(like.with_values(values), requires_grad)


def randn_like(
    input: SparseTensor,
    *,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> SparseTensor:
    """A tensor with the same entries, with values from the standard normal distribution."""
    like = _like("randn_like", input, dtype, device)
    values = torch.empty_like(like.values()).normal_(generator=generator)
    return _with_gradient(like.with_values(values), requires_grad)


def _filled(
    caller: str,
    input: SparseTensor,
    value: float,
    dtype: torch.dtype | None,
    device: Any,
    requires_grad: bool,
) -> SparseTensor:
    like = _like(caller, input, dtype, device)
    made = like.with_values(torch.full_like(like.values(), value))
    return _with_gradient(made, requires_grad)


def _like(caller: str, input: Any, dtype: torch.dtype | None, device: Any) -> SparseTensor:
    """The tensor detached, with this type, on this device."""
    if not isinstance(input, SparseTensor):
        raise UserError(
            f"{caller}: expected a tulle.SparseTensor, but found {type(input).__name__}; "
            f"torch.{caller} takes dense tensors."
        )
    return input.detach().to(dtype=dtype, device=device)


# ---- arguments of constructors -------------------------------------------------------------------


def placement(caller: str, dtype: torch.dtype | None, device: Any) -> dict[str, Any]:
    """The type and the device as torch's functions take them."""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not isinstance(dtype, torch.dtype):
        raise UserError(f"{caller}: expected a type such as torch.float64, but found {dtype!r}.")
    dtypes.name_of(dtype)
    device = torch.get_default_device() if device is None else torch.device(device)
    devices.check_present(device)
    return {"dtype": dtype, "device": device}


def tensor_shape(caller: str, size: Any) -> tuple[int, ...]:
    """The shape of a sparse tensor."""
    shape = shape_of(caller, size)
    if not shape:
        raise UserError(f"{caller}: a sparse tensor has at least one dimension; give its sizes.")
    return shape


def default_format(rank: int) -> str:
    """The format of new tensors of this rank."""
    return {1: "coo", 2: "csr"}.get(rank, "csf")


def _with_gradient(made: SparseTensor, requires_grad: bool) -> SparseTensor:
    return made.requires_grad_() if requires_grad else made
