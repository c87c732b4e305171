"""Reductions and softmax of sparse tensors."""

from __future__ import annotations

from typing import Any, TypeAlias

import torch

from tulle.support.arguments import takes_numpy_names
from tulle.tensors import operations
from tulle.tensors.stored_tensor import StoredTensor

_Type: TypeAlias = torch.dtype | None


class ReductionMethods(StoredTensor):
    """`sum`, `mean`, `amax` and others. Without `dim` they reduce over all dimensions. As in
    torch, `axis` and `keepdims` are other names of `dim` and `keepdim`."""

    __slots__ = ()

    @takes_numpy_names
    def sum(self, dim: Any = None, keepdim: bool = False, *, dtype: _Type = None) -> Any:
        """The sum over one dimension, several or all, of elements converted to `dtype`. Without it
        integers are summed as int64, as in torch."""
        return operations.installed.reduce("sum", self, dim, keepdim, False, dtype)

    @takes_numpy_names
    def mean(
        self, dim: Any = None, keepdim: bool = False, *, dtype: _Type = None, stored: bool = False
    ) -> Any:
        """The mean over one dimension, several or all, of elements converted to `dtype`. Absent
        elements count as 0. With `stored` only stored elements count, and the mean of none is
        0."""
        return operations.installed.reduce("mean", self, dim, keepdim, stored, dtype)

    @takes_numpy_names
    def amax(self, dim: Any = None, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The largest element over one dimension, several or all. Absent elements count as 0. With
        `stored` only stored elements count, and the largest of none is -inf."""
        return operations.installed.reduce("amax", self, dim, keepdim, stored)

    @takes_numpy_names
    def amin(self, dim: Any = None, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The smallest element over one dimension, several or all. Absent elements count as 0. With
        `stored` only stored elements count, and the smallest of none is inf."""
        return operations.installed.reduce("amin", self, dim, keepdim, stored)

    @takes_numpy_names
    def prod(
        self, dim: Any = None, keepdim: bool = False, *, dtype: _Type = None, stored: bool = False
    ) -> Any:
        """The product over one dimension, several or all, of elements converted to `dtype`. Absent
        elements count as 0; with `stored` only stored elements count. Without `dtype`
        integers are multiplied as int64, as in torch."""
        return operations.installed.reduce("prod", self, dim, keepdim, stored, dtype)

    @takes_numpy_names
    def argmax(self, dim: int | None = None, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The coordinate of the largest element along a dimension, the first one of several. Absent
        elements count as 0. With `stored` only stored elements count, and the result is -1 where
        there are none. A tensor with several dimensions needs `dim`."""
        return operations.installed.reduce("argmax", self, dim, keepdim, stored)

    @takes_numpy_names
    def argmin(self, dim: int | None = None, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The coordinate of the smallest element along a dimension; see `argmax`."""
        return operations.installed.reduce("argmin", self, dim, keepdim, stored)

    @takes_numpy_names
    def logsumexp(self, dim: Any, keepdim: bool = False, *, stored: bool = False) -> Any:
        """The logarithm of the sum of exponentials. Absent elements count as 0; with `stored` only
        stored elements count."""
        return operations.installed.reduce("logsumexp", self, dim, keepdim, stored)

    @takes_numpy_names
    def softmax(self, dim: int, dtype: torch.dtype | None = None) -> Any:
        """The softmax along a dimension over the stored entries, as torch.sparse.softmax."""
        return operations.installed.softmax("softmax", self, dim, dtype)

    @takes_numpy_names
    def log_softmax(self, dim: int, dtype: torch.dtype | None = None) -> Any:
        """The logarithm of `softmax`."""
        return operations.installed.softmax("log_softmax", self, dim, dtype)
