"""Structure that the library holds: its number, and the proof that it is valid.

A warm call passes the number in place of the arrays, and the library checks nothing. So it only
holds valid structure, and calls compare PyTorch's counts of writes before they pass a number.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tulle.library import bindings
from tulle.support.arguments import shape_of
from tulle.support.errors import UserError
from tulle.tensors.own_memory import has_elements, is_plain

if TYPE_CHECKING:
    from tulle.tensors.formats import Format


# Sets an attribute of a pattern, which is immutable to others.
write = object.__setattr__


def counted_of(arrays: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The arrays whose writes PyTorch counts: all, or none if one was made in inference mode."""
    return () if any(array.is_inference() for array in arrays) else arrays


def version_of(counted: tuple[Tensor, ...]) -> int:
    """PyTorch's count of writes to the arrays."""
    return sum(array._version for array in counted)


def _check_version(counted: tuple[Tensor, ...], version: int) -> None:
    """Raises UserError if an array was written to since the arrays had that version."""
    if version != version_of(counted):
        raise UserError(
            "A structure array of this sparse tensor was written to after the tensor was made, so "
            "its positions and coordinates may be invalid. If the tensor shares memory with a "
            "torch.sparse tensor, writing to the values of that tensor has the same effect: "
            "PyTorch counts those writes together. Make a new tensor with tulle.tensor or "
            "tulle.from_levels; to change values only, write to values() of this tensor, or use "
            "with_values."
        )


def _addresses_of(arrays: tuple[Tensor, ...]) -> tuple[int, ...]:
    """The address of each array; 0 for one that a tracer follows, which has no memory."""
    return tuple([array.data_ptr() if is_plain(array) else 0 for array in arrays])


def check_rank(name: str, format: Format, shape: tuple[int, ...]) -> None:
    """Raises UserError if the format is one of tensors of another rank. A name such as csr fits
    several ranks, so that the library does not notice."""
    if format.rank != len(shape):
        raise UserError(
            f"{name}: the arrays are those of a tensor of rank {format.rank}, but the shape "
            f"{list(shape)} has rank {len(shape)}."
        )


def hold_in_advance(pattern: HeldStructure) -> None:
    """Lets the library hold a structure that is known to be valid, so that compiled functions,
    which pass its arrays, need not check them in each call."""
    if pattern.is_checked and not pattern._is_held and all(map(is_plain, pattern.arrays)):
        pattern.hold()


def _immutable(name: str) -> str:
    return (
        f"{name}: patterns are immutable, because tensors share them. Make a new tensor with "
        "tulle.from_levels."
    )


class HeldStructure:
    """The base of `Pattern`, which sets these attributes."""

    __slots__ = (
        "_addresses",
        "_is_held",
        "arrays",
        "counted",
        "format",
        "is_checked",
        "shape",
        "structure",
        "version",
    )
    _addresses: tuple[int, ...]  # of the arrays when they were checked
    _is_held: bool
    arrays: tuple[Tensor, ...]
    counted: tuple[Tensor, ...]
    format: Format
    is_checked: bool
    shape: tuple[int, ...]
    structure: int
    version: int

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(_immutable(name), name=name, obj=self)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(_immutable(name), name=name, obj=self)

    if TYPE_CHECKING:

        @property
        def numbers(self) -> tuple[int, ...]: ...
        @property
        def sizes(self) -> Tensor: ...
        def spec(self, dtype: torch.dtype) -> str: ...
        def count_slots(self) -> int: ...
        def forget_other_patterns(self) -> None: ...

    def _number(self) -> None:
        """Gives the structure a number."""
        write(self, "structure", bindings.new_structure())
        release = weakref.finalize(self, bindings.release_structure, self.structure)
        release.atexit = False

    def hold(self) -> int:
        """The number of the structure, which operators take in place of its arrays. Raises
        UserError if the structure is invalid."""
        self._notice_other_memory()
        if not self._is_held:
            if not self.is_checked:
                self._check_pieces()
            self._hold(self.count_slots())
        return self.structure

    def _mark_checked(self) -> None:
        """Notes that the structure is valid, and the memory of which that is known."""
        write(self, "_addresses", _addresses_of(self.arrays))
        write(self, "is_checked", True)

    def _notice_other_memory(self) -> None:
        """Makes `hold` check the structure again if an array was given other memory, as happens
        when PyTorch moves it to another process."""
        if self.is_checked and self._addresses != _addresses_of(self.arrays):
            self.forget_other_patterns()
            write(self, "_is_held", False)
            write(self, "is_checked", False)

    def _check_pieces(self) -> None:
        """Raises UserError if the shape or the number or kind of arrays is wrong."""
        formats = [part.format for part in self.format.parts] or [self.format]
        expected = sum(len(level.arrays) for one in formats for level in one.levels)
        are_vectors = all(has_elements(array) and array.ndim == 1 for array in self.arrays)
        if len(self.arrays) != expected or not are_vectors:
            raise UserError(
                f"The format {self.format} stores {expected} vectors as structure, but found "
                f"{[tuple(array.shape) for array in self.arrays]}."
            )
        check_rank("The structure", self.format, self.shape)
        shape_of("The structure", self.numbers)

    def _hold(self, value_count: int) -> None:
        """Lets the library hold the arrays of a tensor with that many values."""
        if value_count >= 2**63:
            raise UserError(f"The sizes {self.numbers} are too large: {value_count} values.")
        self.check_unchanged()
        if not self.structure:
            self._number()
        spec = self.spec(torch.float32)
        token = bindings.trust if self.is_checked else 0
        arrays = list(self.arrays)
        bindings.hold_structure(token, self.structure, spec, self.sizes, arrays, value_count)
        self._mark_checked()
        write(self, "_is_held", True)

    def ensure_checked(self) -> None:
        """Raises UserError if the structure is invalid or was written to since it was checked."""
        self.check_unchanged()
        self._notice_other_memory()
        if not self.is_checked and all(map(is_plain, self.arrays)):
            self.hold()

    def check_unchanged(self) -> None:
        """Raises UserError if the structure was written to since it was checked."""
        _check_version(self.counted, self.version)
