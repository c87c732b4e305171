"""Parts of sparse tensors: indices, slices, masks, pieces along a dimension."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor

from tulle.support.arguments import dimension_of
from tulle.support.errors import OutOfRange, UserError
from tulle.tensors import operations
from tulle.tensors.stored_tensor import StoredTensor


class IndexingMethods(StoredTensor):
    """`A[...]`, `narrow`, `index_select`, `split` and others. They cost as much as the entries and
    the result, or less if the storage leads to the part."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        """The part that integers, slices, index tensors, masks, None and '...' select, as in torch.
        Steps may be negative, as in NumPy. An ordinary tensor if integers and index tensors leave
        no dimension of the operand."""
        return operations.installed.restructure("index", self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Sets stored elements. An element without an entry can only be set to 0."""
        operations.installed.restructure("assign", self, index, value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.unbind())

    def _along(self, dimension: int, selected: Any) -> Any:
        """The part that an index selects of one dimension."""
        index: Any = (*[slice(None)] * dimension, selected)
        return self[index]

    def select(self, dim: int, index: int) -> Any:
        """The part at one coordinate of a dimension, without that dimension."""
        return self._along(dimension_of("select", dim, self.ndim), index)

    def narrow(self, dim: int, start: int, length: int) -> Any:
        """`length` coordinates of a dimension from `start` on."""
        at = dimension_of("narrow", dim, self.ndim)
        size = self._pattern.shape[at]
        first = start + size if start < 0 else start
        if length < 0 or first < 0 or first + length > size:
            raise OutOfRange(
                f"narrow: dimension {at} has the size {size}, but {length} coordinates from "
                f"{start} on were requested."
            )
        return self._along(at, slice(first, first + length))

    narrow_copy = narrow

    def index_select(self, dim: int, index: Tensor) -> Any:
        """The coordinates of a dimension that an index vector lists, in that order. Of a vector, an
        ordinary tensor."""
        at = dimension_of("index_select", dim, self.ndim)
        if not isinstance(index, Tensor) or index.ndim > 1:
            raise UserError("index_select: expected a vector of integers as index.")
        return self._along(at, index.reshape(-1))

    def masked_select(self, mask: Any) -> Any:
        """The elements where a mask of the same shape, sparse or dense, is true, as an ordinary
        vector."""
        return operations.installed.restructure("masked_select", self, mask)

    # ---- pieces --------------------------------------------------------------------------------

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        """The parts at each coordinate of a dimension, without that dimension."""
        at = dimension_of("unbind", dim, self.ndim)
        return tuple([self._along(at, n) for n in range(self._pattern.shape[at])])

    def split(self, split_size: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
        """Pieces along a dimension: of one size, the last one smaller, or of a list of sizes."""
        at = dimension_of("split", dim, self.ndim)
        size = self._pattern.shape[at]
        if isinstance(split_size, int):
            if split_size < 0 or (split_size == 0 and size > 0):
                raise UserError(f"split: the size of a piece must be positive, not {split_size}.")
            starts = list(range(0, size, split_size)) if size else [0]
            return self._pieces(at, [*starts, size])
        sizes = list(split_size)
        if sum(sizes) != size or any(one < 0 for one in sizes):
            raise UserError(
                f"split: the sizes {sizes} of the pieces do not add up to the size {size} of "
                f"dimension {at}."
            )
        bounds = [0]
        for one in sizes:
            bounds.append(bounds[-1] + one)
        return self._pieces(at, bounds)

    split_with_sizes = split

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Any, ...]:
        """At most that many pieces of equal size along a dimension, the last one smaller."""
        at = dimension_of("chunk", dim, self.ndim)
        if chunks < 1:
            raise UserError(f"chunk: the number of pieces must be positive, not {chunks}.")
        size = self._pattern.shape[at]
        if size == 0:
            return tuple([self._along(at, slice(0, 0)) for _ in range(chunks)])
        return self.split(-(-size // chunks), at)

    def tensor_split(
        self,
        indices_or_sections: Any = None,
        dim: int = 0,
        *,
        indices: Any = None,
        sections: Any = None,
    ) -> tuple[Any, ...]:
        """Pieces along a dimension: that many, with sizes that differ by at most 1, or the pieces
        between a list of bounds."""
        given = [one for one in (indices_or_sections, indices, sections) if one is not None]
        if len(given) != 1:
            raise UserError("tensor_split: expected a number of pieces, or a list of bounds.")
        [indices_or_sections] = given
        at = dimension_of("tensor_split", dim, self.ndim)
        size = self._pattern.shape[at]
        if isinstance(indices_or_sections, Tensor):
            indices_or_sections = indices_or_sections.tolist()
        if not isinstance(indices_or_sections, int):
            inner = list(indices_or_sections)
            bounds = list(zip([0, *inner], [*inner, size], strict=True))
            return tuple([self._along(at, slice(first, last)) for first, last in bounds])
        if indices_or_sections < 1:
            raise UserError(
                f"tensor_split: the number of pieces must be positive, not {indices_or_sections}."
            )
        small, larger = divmod(size, indices_or_sections)
        sizes = [small + (n < larger) for n in range(indices_or_sections)]
        return self.split(sizes, at)

    def _pieces(self, dimension: int, bounds: list[int]) -> tuple[Any, ...]:
        pairs = itertools.pairwise(bounds)
        return tuple([self._along(dimension, slice(first, last)) for first, last in pairs])
