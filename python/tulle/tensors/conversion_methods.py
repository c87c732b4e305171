"""Sparse tensors in other formats, of other types, on other devices, with permuted dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.library import devices, dtypes
from tulle.support.arguments import dimension_of, flat_dimensions
from tulle.support.errors import UserError
from tulle.tensors import operations
from tulle.tensors.composite_pattern import CompositePattern, pattern_in_graph
from tulle.tensors.formats import Format
from tulle.tensors.held_structure import hold_in_advance
from tulle.tensors.stored_tensor import StoredTensor

if TYPE_CHECKING:
    from typing_extensions import Self


class ConversionMethods(StoredTensor):
    """`to` and its shorthands, `permute` and its shorthands."""

    __slots__ = ()

    @overload
    def to(
        self,
        *target: Any,
        format: Literal["dense"],
        device: Any = ...,
        dtype: Any = ...,
        non_blocking: bool = ...,
        copy: bool = ...,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        *target: Any,
        format: str | Format | None = ...,
        device: Any = ...,
        dtype: Any = ...,
        non_blocking: bool = ...,
        copy: bool = ...,
    ) -> Self: ...
    def to(
        self,
        *target: Any,
        format: str | Format | None = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        non_blocking: bool = False,
        copy: bool = False,
    ) -> Self | Tensor:
        """The tensor in another format, with values of another type, or on another device:
        to(format="csc"), to(torch.float64), to("cuda"). All entries are kept; the format "dense"
        gives an ordinary tensor. With `copy`, the values are copied in any case."""
        wanted_device, wanted_dtype = self._placement(target, device, dtype)
        moved = self if wanted_device == self.device else self._moved(wanted_device)
        if wanted_dtype != moved.dtype:
            dtypes.name_of(wanted_dtype)
            moved = type(self)(moved._pattern, moved._values.to(wanted_dtype))
        if copy and moved._values is self._values:
            moved = type(self)(moved._pattern, moved._values.clone())
        if format is None:
            return moved
        converted: Self | Tensor = operations.installed.convert_format(moved, format)
        if not is_compiling() and not isinstance(converted, Tensor):
            hold_in_advance(converted._pattern)
        return converted

    def _placement(
        self, targets: tuple[Any, ...], device: Any, dtype: Any
    ) -> tuple[torch.device, torch.dtype]:
        """The device and the type that the arguments of `to` name. A positional argument is a
        device, a type, or a tensor that has both, as in torch."""
        for target in targets:
            if isinstance(target, Tensor | StoredTensor):
                device, dtype = target.device, target.dtype
            elif isinstance(target, torch.dtype):
                dtype = target
            elif target is not None and not isinstance(target, bool):  # non_blocking, copy
                device = target
        dtype = self.dtype if dtype is None else dtype
        if not isinstance(dtype, torch.dtype):
            raise UserError(f"to: expected a type such as torch.float64, but found {dtype!r}.")
        try:
            return torch.device(self.device if device is None else device), dtype
        except (RuntimeError, TypeError):
            raise UserError(
                f"to: {device!r} is neither a device nor a type. "
                'For another format write to(format="csr").'
            ) from None

    def _moved(self, device: torch.device) -> Self:
        devices.check_present(device)
        values = self._values.to(device)
        if values.device == self._values.device:  # "cuda" names the current GPU
            return self
        return type(self)(self._pattern.with_each(lambda array: array.to(device)), values)

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """An ordinary tensor, with elements of another type if `dtype` is given."""
        return self.to(dtype=dtype, format="dense")

    def to_torch(self) -> Tensor:
        """A torch.sparse tensor. CSR, CSC, COO, BSR and BSC tensors keep their layout and share
        the values with the result, whose structure is a copy; any other format becomes COO."""
        return operations.installed.to_torch(self)

    def to_scipy(self) -> Any:
        """A SciPy sparse array. CSR, CSC, COO and BSR tensors keep their layout and share the
        values with the result, whose structure is a copy; DIA stays DIA, and any other format
        becomes CSR."""
        return operations.installed.to_scipy(self)

    # ---- types and devices ---------------------------------------------------------------------

    def float(self) -> Self:
        """The tensor with values of float32."""
        return self.to(torch.float32)

    def half(self) -> Self:
        """The tensor with values of float16."""
        return self.to(torch.float16)

    def bfloat16(self) -> Self:
        """The tensor with values of bfloat16."""
        return self.to(torch.bfloat16)

    def double(self) -> Self:
        """The tensor with values of float64."""
        return self.to(torch.float64)

    def cpu(self) -> Self:
        """The tensor on the CPU."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Self:
        """The tensor on the current GPU, or on the GPU with this number or name."""
        if isinstance(device, int):
            device = f"cuda:{device}"
        return self.to("cuda" if device is None else device)

    # ---- permutations --------------------------------------------------------------------------

    @property
    def T(self) -> Any:
        """The transpose: the same storage with the dimensions in reverse order."""
        return self.permute(*reversed(range(self.ndim)))

    def t(self) -> Any:
        """The transpose of a matrix."""
        return self.T

    def permute(self, *order: Any, dims: Any = None) -> Any:
        """The same storage with the dimensions in another order: permute(1, 0) or permute((1, 0)).
        An ordinary tensor if the storage is dense and row-major in that order."""
        rank = self.ndim
        given = flat_dimensions(order, dims)
        wanted = tuple([dimension_of("permute", d, rank) for d in given])
        if sorted(wanted) != list(range(rank)):
            raise UserError(f"permute: {given} does not name each of {rank} dimensions once.")
        if is_compiling():
            return self._permuted_in_graph(wanted)
        pattern = self._pattern.permuted(wanted)
        if pattern.format == Format("dense", rank):
            return self._values.view(pattern.shape)
        return type(self)(pattern, self._values)

    def _permuted_in_graph(self, order: tuple[int, ...]) -> Any:
        """`permute` as torch.compile follows it."""
        pattern = self._pattern
        text = operations.installed.permuted_format(pattern._format_text, len(order), order)
        shape = tuple([pattern.shape[d] for d in order])
        if text == "dense":
            return self._values.view(shape)
        counts = pattern.counts if isinstance(pattern, CompositePattern) else ()
        found = pattern_in_graph(text, shape, pattern.arrays, pattern.index_dtype, counts)
        return type(self)(found, self._values)

    def transpose(self, dim0: int, dim1: int) -> Any:
        """The same storage with two dimensions exchanged."""
        first = dimension_of("transpose", dim0, self.ndim)
        second = dimension_of("transpose", dim1, self.ndim)
        order = list(range(self.ndim))
        order[first], order[second] = second, first
        return self.permute(*order)
