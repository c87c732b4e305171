"""The operands of the table: the same numbers as dense tensors, as torch's and as Tulle's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from helpers import random_sparse
from torch import Tensor

import tulle

# Torch's layouts, and how torch converts a dense tensor to each.
TORCH_LAYOUTS: dict[str, Callable[[Tensor], Tensor]] = {
    "COO": lambda data: data.to_sparse(),
    "CSR": lambda data: data.to_sparse_csr(),
    "CSC": lambda data: data.to_sparse_csc(),
    "BSR": lambda data: data.to_sparse_bsr((2, 3)),
    "BSC": lambda data: data.to_sparse_bsc((2, 3)),
}
# Formats that torch does not have.
FORMATS = ["dcsr", "ell(6)", "dia", "bitmap", "hyb(2,2)"]
COLUMNS = [*TORCH_LAYOUTS, *FORMATS]


def _numbers(seed: int) -> Tensor:
    """A 6 x 6 matrix of numbers between -1 and 1, most of them 0. Row 3 is empty."""
    data = random_sparse(6, 6, density=0.4, seed=seed)
    signs = random_sparse(6, 6, density=0.5, seed=seed + 7) != 0
    data = torch.where(signs, -data, data) / 5.5
    data += torch.arange(36, dtype=data.dtype).reshape(6, 6) * (data != 0) / 1000
    data[3] = 0
    return data


A, B = _numbers(0), _numbers(1)
# Two matrices with as many entries, which torch's compressed batches need.
BATCH = torch.stack([A, A.flip(0).flip(0) * 2 - A.sign() / 8])
POSITIVE = A.abs() + torch.eye(6, dtype=A.dtype) / 3
SPECIAL = torch.tensor([torch.inf, -torch.inf, torch.nan], dtype=A.dtype)


def _dense(*shape: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator, dtype=A.dtype) + 0.25


@dataclass
class Operands:
    """Operands of one side: "dense", "torch" or "tulle". With `needs_gradient` it keeps those that
    a function asked for, whose gradients are compared."""

    side: str
    column: str
    needs_gradient: bool = False
    # With the elements that are entries in the format; None for dense operands.
    asked: list[tuple[Any, Tensor | None]] = field(default_factory=list)

    def sparse(self, data: Tensor) -> Any:
        """A sparse tensor of this side in the format of the column."""
        entries = converted(data, self.column)[1] if self.needs_gradient else None
        return self._leaf(self._stored(data), entries)

    def dense(self, data: Tensor) -> Tensor:
        """A dense tensor."""
        return self._leaf(data.clone(), None)

    def _stored(self, data: Tensor) -> Any:
        if self.side == "dense":
            return data.clone()
        if self.side == "tulle":
            return converted(data, self.column)[0].clone()
        if self.column not in TORCH_LAYOUTS:
            raise NotImplementedError("torch does not have this format")
        return TORCH_LAYOUTS[self.column](data)

    def _leaf(self, tensor: Any, entries: Tensor | None) -> Any:
        if self.needs_gradient and tensor.is_floating_point():
            tensor.requires_grad_()
            self.asked.append((tensor, entries))
        return tensor

    # ---- operands by name --------------------------------------------------------------------

    @cached_property
    def a(self) -> Any:
        """A sparse matrix."""
        return self.sparse(A)

    @cached_property
    def b(self) -> Any:
        """A sparse matrix with other entries."""
        return self.sparse(B)

    @cached_property
    def same(self) -> Any:
        """A sparse matrix with the entries of `a` and other values."""
        return self.sparse(A * 3)

    @cached_property
    def mask(self) -> Any:
        """The matrix `a` without a gradient."""
        return self._stored(A)

    @cached_property
    def positive(self) -> Any:
        """A sparse matrix of positive numbers, without empty rows."""
        return self.sparse(POSITIVE)

    @cached_property
    def positive_mask(self) -> Any:
        """Ones at the entries of `positive`."""
        return self._stored((POSITIVE != 0).double())

    @cached_property
    def large(self) -> Any:
        """A sparse matrix of numbers between -4 and 4."""
        return self.sparse(A * 4)

    @cached_property
    def special(self) -> Any:
        """A sparse matrix with infinite numbers and NaN."""
        data = A.clone()
        data[data != 0] = torch.cat([SPECIAL, data[data != 0][3:]])
        return self.sparse(data)

    @cached_property
    def integers(self) -> Any:
        """A sparse matrix of int64."""
        return self.sparse((A * 9).round().long())

    @cached_property
    def batch(self) -> Any:
        """Two sparse matrices."""
        return self.sparse(BATCH)

    @cached_property
    def x(self) -> Tensor:
        """A dense matrix."""
        return self.dense(_dense(6, 6, seed=1))

    @cached_property
    def y(self) -> Tensor:
        """A dense matrix."""
        return self.dense(_dense(6, 6, seed=2))

    @cached_property
    def v(self) -> Tensor:
        """A dense vector."""
        return self.dense(_dense(6, seed=3))

    @cached_property
    def dense_batch(self) -> Tensor:
        """Two dense matrices."""
        return self.dense(_dense(2, 6, 6, seed=4))


# What `converted` returned, by the column and the elements.
_known: dict[tuple[str, bytes], tuple[tulle.SparseTensor, Tensor]] = {}


def converted(data: Tensor, column: str) -> tuple[tulle.SparseTensor, Tensor]:
    """Tulle's tensor in the format of the column, and which elements it stores: all nonzero ones,
    and padding."""
    key = column, f"{data.dtype} {data.shape}".encode() + data.numpy().tobytes()
    if key not in _known:
        if column in TORCH_LAYOUTS:
            stored = tulle.tensor(TORCH_LAYOUTS[column](data))
        else:
            stored = tulle.tensor(data, format=column)
        ones = stored.with_values(torch.ones_like(stored.values()))
        _known[key] = stored, ones.to_dense() != 0
    return _known[key]


def is_sparse(value: Any) -> bool:
    """Whether it is a sparse tensor of torch or of Tulle."""
    if isinstance(value, tulle.SparseTensor):
        return True
    return isinstance(value, Tensor) and value.layout != torch.strided


def as_dense(value: Any) -> Any:
    """The value with all tensors in it as dense ones."""
    if isinstance(value, tuple | list):
        return [as_dense(one) for one in value]
    return value.to_dense() if is_sparse(value) else value
