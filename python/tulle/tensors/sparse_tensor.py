"""The sparse tensor: a pattern and a vector of values."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import torch
from torch import Tensor, is_grad_enabled
from torch.autograd import forward_ad

from tulle.library import dtypes
from tulle.support.arguments import dimension_of, flat_dimensions
from tulle.support.errors import UserError, translated
from tulle.tensors.operators import Operators
from tulle.tensors.pattern import Pattern

if TYPE_CHECKING:
    from pathlib import Path

    from tulle.plotting.pictures import Picture
    from tulle.tensors.formats import Format
    from tulle.tensors.statistics import Statistics


class SparseTensor(Operators):
    """A tensor that stores some of its entries; the others have the value `fill`.

    Made by `tulle.tensor`, `tulle.from_levels` and by computing. It is immutable: operators return
    new tensors, which share structure and values where they can.
    """

    __slots__ = ("__weakref__", "_calls", "_pattern", "_values")
    __array_ufunc__ = None  # numpy leaves `array @ A` to us
    fill = 0

    def __init__(self, pattern: Pattern, values: Tensor) -> None:
        """Takes both as they are; `tulle.from_levels` is the way in for structure to be checked."""
        self._pattern = pattern
        self._values = values
        calls = pattern.calls.get(values.dtype)
        if calls is None:
            calls = pattern.calls.setdefault(values.dtype, {})
        self._calls: dict[Any, Callable[..., Any]] = calls

    # ---- what it is ----------------------------------------------------------------------------

    @property
    def pattern(self) -> Pattern:
        """The structure, shared by all tensors that have it."""
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
        """How it is stored; its `str` parses back."""
        return self._pattern.format

    @property
    def nnz(self) -> int:
        """How many entries are stored, explicit zeros included: also those that fill blocks, but
        not what blocks hold beyond the end of a dimension."""
        from tulle.tensors import entries

        return entries.count(self._pattern, self._values.numel())

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
        raise UserError("A sparse tensor is neither true nor false; look at its nnz or values().")

    # ---- its parts -----------------------------------------------------------------------------

    def values(self) -> Tensor:
        """The stored values, a vector in storage order. It is the tensor's own memory; blocks that
        reach beyond the end of a dimension are whole in it. The values of a composite format stand
        part after part, each part beginning at a multiple of 64."""
        return self._values

    def coordinates(self) -> Tensor:
        """The coordinates of the entries, [rank, nnz] in storage order."""
        return self.entries()[0]

    def entries(self) -> tuple[Tensor, Tensor]:
        """The coordinates of the entries, [rank, nnz], and their values, in storage order."""
        from tulle.tensors import entries

        return entries.entries(self)

    def levels(self) -> list[dict[str, Tensor]]:
        """The structure arrays by level, as `tulle.from_levels` takes them: `pos` and `crd`, of
        bitmaps `bits`."""
        arrays = iter(self._pattern.arrays)
        return [{name: next(arrays) for name in level.arrays} for level in self.format.levels]

    def parts(self) -> list[SparseTensor]:
        """The parts of a tensor in a composite format, in their order and in the same memory;
        `A.format.parts` says what each of them takes. Any other tensor is its only part."""
        from tulle.tensors import composites

        return composites.parts_of(self)

    def with_values(self, values: Tensor) -> SparseTensor:
        """A tensor of the same structure with other values, in storage order."""
        if not isinstance(values, Tensor):
            raise UserError(f"with_values: expected a tensor, but found {type(values).__name__}.")
        dtypes.name_of(values.dtype)
        if values.shape != self._values.shape:
            raise UserError(
                f"with_values: expected a vector of {self._values.numel()} values, one for each "
                "that values() has, "
                f"but found the shape {list(values.shape)}."
            )
        return SparseTensor(self._pattern, values.contiguous())

    def detach(self) -> SparseTensor:
        """The same tensor without gradients."""
        return SparseTensor(self._pattern, self._values.detach())

    def clone(self) -> SparseTensor:
        """The same structure with a copy of the values."""
        return SparseTensor(self._pattern, self._values.clone())

    # ---- what is known of its structure --------------------------------------------------------

    def statistics(self) -> Statistics:
        """What the pattern of a matrix looks like: lengths of rows, diagonals, blocks."""
        from tulle.tensors import statistics

        return statistics.statistics_of(self)

    def derived(self) -> dict[str, int]:
        """What is kept with the pattern beside the structure itself, and its size in bytes."""
        return self._pattern.derived_sizes()

    def free_derived(self) -> None:
        """Lets go of that. It is found anew when it is needed."""
        self._pattern.free_derived()

    def plot(self, path: str | Path | None = None, *, size: int = 480) -> Picture:
        """Where the entries of a matrix lie: written to `path` (.svg or .png) if given."""
        from tulle.plotting import plots

        return plots.plot_pattern(self, path, size)

    # ---- conversions ---------------------------------------------------------------------------

    @overload
    def to(
        self,
        *target: Any,
        format: Literal["dense"],
        device: Any = ...,
        dtype: Any = ...,
        non_blocking: bool = ...,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        *target: Any,
        format: str | Format | None = ...,
        device: Any = ...,
        dtype: Any = ...,
        non_blocking: bool = ...,
    ) -> SparseTensor: ...
    def to(
        self,
        *target: Any,
        format: str | Format | None = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        non_blocking: bool = False,
    ) -> SparseTensor | Tensor:
        """Stored in another format, with values of another type: to(format="csc"),
        to(torch.float64). No entry is lost; "dense" gives an ordinary tensor."""
        from tulle.operators import conversions

        return conversions.converted(self, format, *conversions.placed(self, target, device, dtype))

    def to_dense(self) -> Tensor:
        """An ordinary tensor."""
        from tulle.operators import conversions

        return conversions.to_dense(self)

    def to_torch(self) -> Tensor:
        """A torch.sparse tensor: CSR, CSC, COO, BSR or BSC of the same memory where the format is
        one of these, else COO."""
        from tulle.interchange import exports

        return exports.to_torch(self)

    def to_scipy(self) -> Any:
        """A SciPy sparse array: CSR, CSC, COO or BSR of the same memory where the format is one of
        these, else CSR."""
        from tulle.interchange import exports

        return exports.to_scipy(self)

    @property
    def T(self) -> Any:
        """The transpose: the same storage, its dimensions read in reverse order."""
        return self.permute(*reversed(range(self.ndim)))

    def t(self) -> Any:
        """The transpose of a matrix."""
        return self.T

    def permute(self, *order: Any) -> Any:
        """The same storage, its dimensions in another order: permute(1, 0) or permute((1, 0)). A
        tensor of torch where that is plainly dense."""
        from tulle.operators import conversions

        return conversions.permuted(self, flat_dimensions(order))

    def transpose(self, dim0: int, dim1: int) -> Any:
        """The same storage, two of its dimensions exchanged."""
        first = dimension_of("transpose", dim0, self.ndim)
        second = dimension_of("transpose", dim1, self.ndim)
        order = list(range(self.ndim))
        order[first], order[second] = second, first
        return self.permute(*order)

    # ---- computing -----------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        # The whole of a warm call. Whatever is unusual goes the general way.
        values = self._values
        if (
            type(other) is Tensor
            and not (is_grad_enabled() and (other.requires_grad or values.requires_grad))
            and forward_ad._current_level < 0
        ):
            call = self._calls.get((other.dtype, other.ndim))
            if call is not None:
                try:
                    return call(values, other)
                except NotImplementedError:
                    pass  # PyTorch has no kernel for it: another device, another layout
                except RuntimeError as error:
                    raise translated(error) from None
        from tulle.operators import arithmetic

        return arithmetic.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        from tulle.operators import arithmetic

        return arithmetic.matmul(other, self)

    def matmul(self, other: Any, *, out: Tensor | None = None) -> Any:
        """As `self @ other`; a dense result is written to `out`, if that is given."""
        if out is None:
            return self @ other
        values = self._values
        if (
            type(other) is type(out) is Tensor
            and not (
                is_grad_enabled()
                and (other.requires_grad or values.requires_grad or out.requires_grad)
            )
            and forward_ad._current_level < 0
        ):
            fill = self._calls.get((other.dtype, other.ndim, "out"))
            if fill is not None:
                try:
                    fill(out, values, other)
                    return out
                except NotImplementedError:
                    pass  # as above
                except RuntimeError as error:
                    raise translated(error) from None
        from tulle.operators import arithmetic

        return arithmetic.matmul(self, other, out)

    mm = matmul

    def remember(
        self, other: Tensor, call: Callable[..., Tensor], fill: Callable[..., None]
    ) -> None:
        """Leaves a short way for the next product with a dense tensor of this type and rank."""
        self._calls[other.dtype, other.ndim] = call
        self._calls[other.dtype, other.ndim, "out"] = fill

    # ---- Python and PyTorch --------------------------------------------------------------------

    def __getattr__(self, name: str) -> NoReturn:
        # Python asks here for what is nowhere else.
        from tulle.operators import torch_functions

        raise AttributeError(torch_functions.hint_for(name), name=name, obj=self)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise UserError(
            "A sparse tensor does not become an array of numpy's by itself; write "
            "to_dense().numpy(), or to_scipy() for a sparse one. With a matrix of SciPy's "
            "on the left of @ write tulle.tensor(matrix) @ A."
        )

    def __copy__(self) -> SparseTensor:
        return SparseTensor(self._pattern, self._values)

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseTensor:
        pattern = copy.deepcopy(self._pattern, memo)
        return SparseTensor(pattern, copy.deepcopy(self._values, memo))

    def __reduce__(self) -> tuple[object, ...]:
        from tulle.interchange import structure
        from tulle.tensors import composites

        if self.format.is_composite:
            return composites.restored, (str(self.format), self._pattern.shape, self.parts())
        own = self._pattern
        parts = (str(self.format), own.shape, own.arrays, self._values, own.index_dtype)
        return structure.restored, parts

    def __repr__(self) -> str:
        from tulle.tensors import printing

        return printing.text_of(self)
