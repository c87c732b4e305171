"""The sparse tensor: its data, its methods, and how it prints, pickles and plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor

from tulle.plotting import matrix_plot
from tulle.plotting.pictures import Picture
from tulle.support.errors import UserError
from tulle.tensors import printing, torch_dispatch
from tulle.tensors.arithmetic_methods import ArithmeticMethods
from tulle.tensors.assembled_pattern import restored_pattern
from tulle.tensors.entry_methods import EntryMethods
from tulle.tensors.gradient_methods import GradientMethods
from tulle.tensors.layout_methods import LayoutMethods
from tulle.tensors.memory_methods import MemoryMethods
from tulle.tensors.reduction_methods import ReductionMethods
from tulle.tensors.refused_methods import RefusedMethods
from tulle.tensors.shape_methods import ShapeMethods
from tulle.tensors.statistics import Statistics, statistics_of
from tulle.tensors.type_methods import SizeMethods, TypeMethods

_IN_SEVERAL_ARRAYS = (
    "A sparse tensor consists of several arrays, so it does not become a tensor of torch or an "
    "array implicitly. Write A.to_dense() for a dense tensor, A.to_torch() for a sparse tensor of "
    "torch, A.clone() for a copy, or A.values() for the stored values."
)


class SparseTensor(
    ArithmeticMethods,
    ReductionMethods,
    ShapeMethods,
    EntryMethods,
    GradientMethods,
    LayoutMethods,
    MemoryMethods,
    RefusedMethods,
    SizeMethods,
    TypeMethods,
):
    """A tensor that stores some of its elements; the others have the value `fill`.

    `tulle.tensor`, `tulle.from_levels` and computations make sparse tensors. Their patterns are
    immutable. Operators return new tensors, which share structure and values where possible;
    methods such as `mul_` change the values in place.
    """

    __module__ = "tulle"
    __slots__ = ()
    fill = 0

    # PyTorch calls this when one of its functions gets a sparse tensor.
    __torch_function__: Any = classmethod(torch_dispatch.dispatch)

    def statistics(self) -> Statistics:
        """Statistics of the pattern of a matrix: row lengths, diagonals, blocks. They are computed
        once for each pattern."""
        known = self._pattern.derived.get("statistics")
        if isinstance(known, Statistics):
            return known
        if self.ndim != 2:
            raise UserError(f"statistics: expected a matrix, but found rank {self.ndim}.")
        rows, columns = self.coordinates()
        found = statistics_of(rows, columns, (self.shape[0], self.shape[1]))
        self._pattern.derived["statistics"] = found
        return found

    def plot(self, path: str | Path | None = None, *, size: int = 480) -> Picture:
        """A picture of the entries of a matrix, at most `size` pixels high and wide. With `path` it
        is written to that file, whose name ends in .svg or .png. Needs matplotlib."""
        if self.ndim != 2:
            raise UserError(f"plot: expected a matrix, but found rank {self.ndim}.")
        shape = (self.shape[0], self.shape[1])
        return matrix_plot.plot(self._coordinates_by_part(), shape, self.nnz, path, size)

    def _coordinates_by_part(self) -> dict[str, Tensor]:
        """The coordinates of the entries of each part by a label for the part. The column ranges
        of a part count as one."""
        if not self.format.is_composite:
            return {str(self.format): self.coordinates()}
        found: dict[str, list[Tensor]] = {}
        for part, chosen in zip(self.parts(), self.format.parts, strict=True):
            label = f"{chosen.selector.partition(' in column range')[0]}: {chosen.format}"
            found.setdefault(label, []).append(part.coordinates())
        return {label: torch.cat(several, dim=1) for label, several in found.items()}

    def __repr__(self) -> str:
        return printing.text_of(self)

    def __getattr__(self, name: str) -> Any:
        # Python calls this for names that it does not find elsewhere. The methods that
        # `operators.methods` adds are such names for type checkers.
        raise AttributeError(
            torch_dispatch.missing_attribute(name, dir(type(self))), name=name, obj=self
        )

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise UserError(
            "A sparse tensor is not converted to a NumPy array implicitly; write "
            "to_dense().numpy(), or to_scipy() for a sparse array. With a SciPy matrix "
            "on the left of @ write tulle.tensor(matrix) @ A."
        )

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise UserError(_IN_SEVERAL_ARRAYS)

    def __dlpack_device__(self) -> NoReturn:
        # torch.tensor, torch.asarray and from_dlpack of torch and NumPy ask for the device first.
        # Without this method torch.tensor would read the tensor as a list, element by element.
        raise UserError(_IN_SEVERAL_ARRAYS)

    def __reduce__(self) -> tuple[object, ...]:
        own = self._pattern
        own.ensure_checked()
        parts = (str(self.format), own.numbers, own.arrays, self._values, own.index_dtype)
        return restored, parts


# Pickles refer to this function by its name.


def restored(
    format: str,
    numbers: tuple[int, ...],
    arrays: tuple[Tensor, ...],
    values: Tensor,
    index_dtype: torch.dtype | None = None,
) -> SparseTensor:
    """The tensor of a pickle. It is checked, since it may come from any file."""
    return SparseTensor(restored_pattern(format, numbers, arrays, values, index_dtype), values)
