"""Element types of sparse tensors: questions about the type, conversions to another one, and new
tensors of the same type and device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tulle.library import dtypes
from tulle.support.arguments import flat_dimensions, shape_of
from tulle.tensors.entry_lists import empty_tensor
from tulle.tensors.stored_tensor import StoredTensor

if TYPE_CHECKING:
    from typing_extensions import Self


class SizeMethods(StoredTensor):
    """The type of the values, and the size of the tensor in memory."""

    __slots__ = ()

    @property
    def itemsize(self) -> int:
        """The size of a value in bytes."""
        return self._values.element_size()

    def element_size(self) -> int:
        """The size of a value in bytes."""
        return self._values.element_size()

    @property
    def nbytes(self) -> int:
        """The size in bytes of the structure arrays and the values."""
        tensors = (*self._pattern.arrays, self._values)
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def is_floating_point(self) -> bool:
        """Whether the values are of a floating-point type."""
        return self._values.dtype.is_floating_point

    def is_complex(self) -> bool:
        """False: values are real."""
        return False

    def is_signed(self) -> bool:
        """Whether the type of the values has negative numbers."""
        return self._values.dtype.is_signed

    def is_conj(self) -> bool:
        """False: values are real."""
        return False

    def is_neg(self) -> bool:
        """Whether torch has yet to negate the values, as those of `x.conj().imag`."""
        return self._values.is_neg()

    def nelement(self) -> int:
        """The number of elements, absent ones included."""
        return self.numel()

    def ndimension(self) -> int:
        """The number of dimensions."""
        return self.ndim


class TypeMethods(StoredTensor):
    """Conversions of the values to another type, and `new_zeros` and its kind."""

    __slots__ = ()

    def type(self, dtype: Any = None, non_blocking: Any = False) -> Any:
        """The name of the type, as in torch, or the tensor with values of another type."""
        if dtype is None:
            kind = self._values.type().removeprefix("torch.")
            return f"torch.sparse.{kind}"
        if isinstance(dtype, str):
            kinds = {torch.empty(0, dtype=one).type(): one for one in dtypes.NAMES}
            dtype = kinds.get(dtype.replace("torch.sparse.", "torch."), dtype)
        return self.to(dtype=dtype)

    def type_as(self, other: Any) -> Self:
        """The tensor with values of the type of another tensor, on its device."""
        return self.to(other)

    def int(self) -> Self:
        """The tensor with values of int32."""
        return self.to(torch.int32)

    def long(self) -> Self:
        """The tensor with values of int64."""
        return self.to(torch.int64)

    def bool(self) -> Self:
        """The tensor with values of bool. Stored zeros stay entries, with the value False."""
        return self.to(torch.bool)

    # ---- new tensors ---------------------------------------------------------------------------

    def new_zeros(self, *size: Any, dtype: Any = None, device: Any = None) -> Self:
        """A tensor without entries, of another shape, in the same format if the rank allows it."""
        shape = shape_of("new_zeros", flat_dimensions(size))
        return empty_tensor(self, shape).to(device=device, dtype=dtype)

    new_empty = new_zeros

    def new_ones(self, *size: Any, **options: Any) -> Tensor:
        """A dense tensor of ones."""
        return self._values.new_ones(*size, **options)

    def new_full(self, size: Any, fill_value: Any, **options: Any) -> Tensor:
        """A dense tensor of one value."""
        return self._values.new_full(size, fill_value, **options)

    def new_tensor(self, data: Any, **options: Any) -> Tensor:
        """A dense tensor of the data."""
        return self._values.new_tensor(data, **options)

    if TYPE_CHECKING:  # `ConversionMethods` has it

        def to(self, *target: Any, **options: Any) -> Any: ...
