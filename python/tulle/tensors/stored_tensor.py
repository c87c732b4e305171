"""A pattern with values: the data of a sparse tensor, and what needs no computation."""

from __future__ import annotations

import copy
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.library import dtypes
from tulle.support.arguments import dimension_of
from tulle.support.errors import UserError
from tulle.support.kinds import is_scipy
from tulle.tensors import operations
from tulle.tensors.formats import Format, check_takes_several_values
from tulle.tensors.own_memory import handed_out
from tulle.tensors.pattern import Pattern

if TYPE_CHECKING:
    from typing_extensions import Self


class StoredTensor:
    """The base of `SparseTensor` and of the classes that hold its methods."""

    __slots__ = ("__weakref__", "_pattern", "_values")

    def __init_subclass__(cls) -> None:
        # Python's messages about arguments show qualified names. Users know one class only.
        for name, member in vars(cls).items():
            if isinstance(member, FunctionType):
                member.__qualname__ = f"SparseTensor.{name}"

    def __init__(self, pattern: Pattern, values: Tensor) -> None:
        """Checks nothing; `tulle.from_levels` checks structure from outside."""
        self._pattern = pattern
        self._values = values

    # ---- properties ----------------------------------------------------------------------------

    @property
    def pattern(self) -> Pattern:
        """The structure. All tensors with the same structure share it."""
        return self._pattern

    @property
    def shape(self) -> torch.Size:
        return torch.Size(self._pattern.shape)

    @property
    def ndim(self) -> int:
        return len(self._pattern.shape)

    @property
    def dtype(self) -> torch.dtype:
        return self._values.dtype

    @property
    def index_dtype(self) -> torch.dtype:
        """The type of positions and coordinates."""
        return self._pattern.index_dtype

    @property
    def device(self) -> torch.device:
        return self._values.device

    @property
    def format(self) -> Format:
        """The storage format; `tulle.Format` reads its `str`."""
        if is_compiling():
            return Format.of_pattern(self._pattern._format_text, len(self._pattern.shape))
        return self._pattern.format

    @property
    def nnz(self) -> int:
        """The number of stored entries. It includes explicit zeros and the zeros that fill blocks,
        but not the part of a block beyond the end of a dimension."""
        if is_compiling():
            counted: int = operations.installed.count_entries(self)
            return counted
        return self._pattern.count_entries(self._values.numel())

    @property
    def requires_grad(self) -> bool:
        return self._values.requires_grad

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self._pattern.shape)

    @overload
    def size(self) -> torch.Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> torch.Size | int:
        """The shape, or the size of one dimension."""
        if dim is None:
            return self.shape
        return self._pattern.shape[dimension_of("size", dim, self.ndim)]

    def numel(self) -> int:
        """The number of elements, absent ones included."""
        return self.shape.numel()

    def __len__(self) -> int:
        return self._pattern.shape[0]

    def __bool__(self) -> bool:
        raise UserError("A sparse tensor has no truth value; test its nnz or its values().")

    # ---- entries and storage -------------------------------------------------------------------

    def values(self) -> Tensor:
        """The stored values, a vector in storage order that shares the tensor's memory. Blocks that
        reach beyond the end of a dimension are complete in it. The values of a composite format
        follow part by part; each part starts at a multiple of 64."""
        return self._values

    def coordinates(self) -> Tensor:
        """The coordinates of the entries, [rank, nnz], in storage order."""
        return self.entries()[0]

    def entries(self) -> tuple[Tensor, Tensor]:
        """The coordinates of the entries, [rank, nnz], and their values, in storage order."""
        if is_compiling():
            found: tuple[Tensor, Tensor] = operations.installed.entries(self)
            return found
        values = self._values
        self._pattern.ensure_checked()
        count = self._pattern.count_slots()
        if values.shape != (count,) or values.layout != torch.strided:
            raise UserError(
                f"The structure has {count} values, but values() has the shape "
                f"{list(values.shape)} and the layout {values.layout}; make the tensor with "
                "with_values."
            )
        slots = torch.arange(values.numel(), device=values.device)
        coordinates, held = self._pattern.coordinates_at(slots)
        if not self._pattern.has_padding:
            return coordinates, values
        return coordinates[:, held], values[held]

    def levels(self) -> list[dict[str, Tensor]]:
        """The structure arrays of each level as `tulle.from_levels` takes them: `pos`, `crd`, and
        `bits` for bitmaps. They share the tensor's memory; do not write to them."""
        arrays = map(handed_out, self._pattern.arrays)
        return [{name: next(arrays) for name in level.arrays} for level in self.format.levels]

    def parts(self) -> list[Self]:
        """The parts of a tensor in a composite format, which share its memory; `A.format.parts`
        lists what each part takes. Any other tensor is its only part."""
        make = type(self)
        return [make(pattern, values) for pattern, values in self._pattern.parts_of(self._values)]

    # ---- the same structure with other values --------------------------------------------------

    def with_values(self, values: Tensor) -> Self:
        """A tensor with the same structure and other values, in storage order. With several values
        for each, [count, n], the result has a further dimension of size n, which is dense and
        innermost."""
        if not isinstance(values, Tensor):
            raise UserError(f"with_values: expected a tensor, but found {type(values).__name__}.")
        dtypes.name_of(values.dtype)
        if values.layout != torch.strided:
            raise UserError(f"with_values: expected a dense tensor, but found {values.layout}.")
        if not values.ndim or values.shape[:1] != self._values.shape:
            raise UserError(
                f"with_values: expected a vector of {self._values.numel()} values, one for each "
                f"value that values() has, but found the shape {list(values.shape)}."
            )
        if not is_compiling() and values._is_zerotensor():
            values = values.clone()  # gradients that are 0 everywhere may have no memory
        if values.ndim == 1:
            return type(self)(self._pattern, values.contiguous())
        pattern = self._pattern_with_values(tuple(values.shape[1:]))
        return type(self)(pattern, values.contiguous().reshape(-1))

    def _pattern_with_values(self, sizes: tuple[int, ...]) -> Pattern:
        """The pattern of a tensor with a dense block of these sizes in place of each value."""
        pattern = self._pattern
        if is_compiling():
            shape = (*pattern.shape, *sizes)
            text = operations.installed.format_of_several_values(
                pattern._format_text, len(pattern.shape), len(sizes)
            )
            return Pattern.in_graph(text, shape, pattern.arrays, pattern.index_dtype)
        check_takes_several_values(self.format)
        for size in sizes:
            pattern = pattern.with_batch(size)
        return pattern

    def detach(self) -> Self:
        """The same tensor without gradients."""
        return type(self)(self._pattern, self._values.detach())

    def clone(self) -> Self:
        """The same structure with a copy of the values."""
        return type(self)(self._pattern, self._values.clone())

    def __copy__(self) -> Self:
        return type(self)(self._pattern, self._values)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        pattern = copy.deepcopy(self._pattern, memo)
        return type(self)(pattern, copy.deepcopy(self._values, memo))

    # ---- derived data --------------------------------------------------------------------------

    def derived(self) -> dict[str, int]:
        """The data that is cached with the pattern beside the structure: the size in bytes by
        name."""
        return self._pattern.derived_sizes()

    def free_derived(self) -> None:
        """Frees the data that `derived` lists. It is computed again when it is needed."""
        self._pattern.free_derived()


def is_operand(value: object) -> bool:
    """Whether arithmetic accepts it in place of a tensor."""
    return isinstance(value, StoredTensor | Tensor | np.ndarray) or is_scipy(value)
