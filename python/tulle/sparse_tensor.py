"""The sparse tensor: a pattern and a vector of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import torch
from torch import Tensor, is_grad_enabled
from torch.autograd import forward_ad

from tulle.errors import UserError
from tulle.pattern import Pattern

if TYPE_CHECKING:
    from tulle.formats import Format

# How many entries `repr` shows at either end.
_SHOWN = 4


class SparseTensor:
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
        self._calls: dict[Any, Callable[[Tensor, Tensor], Any]] = calls

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
        """How many entries are stored, explicit zeros and the padding of blocks included."""
        return self._values.numel()

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
        return self.shape if dim is None else self._pattern.shape[dim]

    def numel(self) -> int:
        """The number of elements, absent ones included."""
        return self.shape.numel()

    def __len__(self) -> int:
        return self._pattern.shape[0]

    def __bool__(self) -> bool:
        raise UserError("A sparse tensor is neither true nor false; look at its nnz or values().")

    # ---- its parts -----------------------------------------------------------------------------

    def values(self) -> Tensor:
        """The stored values, a vector in storage order. It is the tensor's own memory."""
        return self._values

    def coordinates(self) -> Tensor:
        """The coordinates of the stored values, [rank, nnz] in storage order."""
        from tulle import exports

        return exports.coordinates(self)

    def levels(self) -> list[dict[str, Tensor]]:
        """Positions and coordinates by level, as `tulle.from_levels` takes them."""
        arrays = iter(self._pattern.arrays)
        stored = [(("pos", level.pos), ("crd", level.crd)) for level in self.format.levels]
        return [{name: next(arrays) for name, has in level if has} for level in stored]

    def with_values(self, values: Tensor) -> SparseTensor:
        """A tensor of the same structure with other values, in storage order."""
        if values.shape != self._values.shape:
            raise UserError(
                f"with_values: expected a vector of {self.nnz} values, one for each stored entry, "
                f"but found the shape {list(values.shape)}."
            )
        return SparseTensor(self._pattern, values.contiguous())

    def detach(self) -> SparseTensor:
        """The same tensor without gradients."""
        return SparseTensor(self._pattern, self._values.detach())

    def clone(self) -> SparseTensor:
        """The same structure with a copy of the values."""
        return SparseTensor(self._pattern, self._values.clone())

    # ---- conversions ---------------------------------------------------------------------------

    @overload
    def to(self, *, format: Literal["dense"], dtype: torch.dtype | None = None) -> Tensor: ...
    @overload
    def to(
        self, *, format: str | Format | None = None, dtype: torch.dtype | None = None
    ) -> SparseTensor: ...
    def to(
        self, *, format: str | Format | None = None, dtype: torch.dtype | None = None
    ) -> SparseTensor | Tensor:
        """Stored in another format, with values of another type. No entry is lost; "dense" gives
        an ordinary tensor."""
        from tulle import conversions

        return conversions.converted(self, format, dtype)

    def to_dense(self) -> Tensor:
        """An ordinary tensor."""
        from tulle import conversions

        return conversions.to_dense(self)

    def to_torch(self) -> Tensor:
        """A torch.sparse tensor: CSR, CSC, COO, BSR or BSC of the same memory where the format is
        one of these, else COO."""
        from tulle import exports

        return exports.to_torch(self)

    def to_scipy(self) -> Any:
        """A SciPy sparse array: CSR, CSC, COO or BSR of the same memory where the format is one of
        these, else CSR."""
        from tulle import exports

        return exports.to_scipy(self)

    @property
    def T(self) -> SparseTensor:
        """The transpose: the same storage, its dimensions read in reverse order."""
        return self.permute(*reversed(range(self.ndim)))

    def t(self) -> SparseTensor:
        """The transpose of a matrix."""
        return self.T

    def permute(self, *order: int) -> SparseTensor:
        """The same storage, its dimensions in another order."""
        from tulle import conversions

        return conversions.permuted(self, order)

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """The same storage, two of its dimensions exchanged."""
        order = list(range(self.ndim))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return self.permute(*order)

    # ---- computing -----------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        # The whole of a warm call. Whatever is unusual goes the general way, which says what is
        # wrong if anything is.
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
                except RuntimeError:
                    pass
        from tulle import arithmetic

        return arithmetic.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        from tulle import arithmetic

        return arithmetic.matmul(other, self)

    def __add__(self, other: Any) -> Any:
        return _binary("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("/", other, self)

    def __neg__(self) -> SparseTensor:
        from tulle import arithmetic

        return arithmetic.element_function("neg", self)

    def __pos__(self) -> SparseTensor:
        return self

    def __abs__(self) -> SparseTensor:
        from tulle import arithmetic

        return arithmetic.element_function("abs", self)

    def sum(self, dim: int | tuple[int, ...] | None = None, keepdim: bool = False) -> Any:
        """The sum over one dimension, several or all; integers are summed as int64, as in torch."""
        from tulle import arithmetic

        return arithmetic.sum_over(self, dim, keepdim)

    # ---- Python and PyTorch --------------------------------------------------------------------

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        from tulle import torch_functions

        return torch_functions.dispatch(func, args, kwargs or {})

    def __reduce__(self) -> tuple[object, ...]:
        from tulle import imports

        parts = (str(self.format), self._pattern.shape, self._pattern.arrays, self._values)
        return imports.restored, parts

    def __repr__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        index = str(self.index_dtype).removeprefix("torch.")
        shape = "x".join(map(str, self._pattern.shape))
        head = (
            f"tulle.SparseTensor({shape} {dtype}, {self.format}, nnz={self.nnz}, "
            f"index_dtype={index})"
        )
        return "\n".join([head, *self._shown_entries()])

    def _shown_entries(self) -> list[str]:
        if self.device.type != "cpu":
            return []
        coordinates, values = self.coordinates(), self._values.detach()
        if self.nnz <= 2 * _SHOWN:
            rows = list(range(self.nnz))
        else:
            rows = [*range(_SHOWN), *range(self.nnz - _SHOWN, self.nnz)]
        entries = [
            f"  ({', '.join(map(str, coordinates[:, row].tolist()))}): {values[row].item():g}"
            for row in rows
        ]
        if self.nnz > 2 * _SHOWN:
            entries.insert(_SHOWN, "  ...")
        return entries


def _binary(operator: str, left: Any, right: Any) -> Any:
    from tulle import arithmetic

    return arithmetic.binary(operator, left, right)
