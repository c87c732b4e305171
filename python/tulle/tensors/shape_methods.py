"""Sparse tensors of other shapes, with dimensions in another order, and their diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.support.arguments import dimension_of, flat_dimensions
from tulle.support.errors import UserError
from tulle.tensors import operations
from tulle.tensors.conversion_methods import ConversionMethods
from tulle.tensors.indexing_methods import IndexingMethods


class ShapeMethods(IndexingMethods, ConversionMethods):
    """`reshape`, `squeeze`, `expand`, `movedim`, `flip`, `diagonal` and others. All keep the dtype
    and explicit zeros."""

    __slots__ = ()

    # ---- shapes --------------------------------------------------------------------------------

    def reshape(self, *sizes: Any, shape: Any = None) -> Any:
        """The elements in row-major order with another shape; one size may be -1."""
        return operations.installed.restructure("reshape", self, flat_dimensions(sizes, shape))

    def view(self, *sizes: Any, size: Any = None) -> Any:
        """As `reshape`. The result does not share memory with the tensor."""
        return self.reshape(flat_dimensions(sizes, size))

    def reshape_as(self, other: Any) -> Any:
        """The elements with the shape of another tensor."""
        return self.reshape(*other.shape)

    view_as = reshape_as

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        """The dimensions from `start_dim` to `end_dim` as one."""
        first = dimension_of("flatten", start_dim, self.ndim)
        last = dimension_of("flatten", end_dim, self.ndim)
        if first > last:
            raise UserError(
                f"flatten: start_dim is {start_dim}, which is behind end_dim, {end_dim}."
            )
        sizes = self._pattern.shape
        total = 1
        for size in sizes[first : last + 1]:
            total = total * size
        return self.reshape((*sizes[:first], total, *sizes[last + 1 :]))

    ravel = flatten

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Any:
        """One dimension as several; one size may be -1."""
        at = dimension_of("unflatten", dim, self.ndim)
        own = self._pattern.shape
        wanted = list(sizes)
        known = 1
        for size in wanted:
            known = known if size == -1 else known * size
        if wanted.count(-1) == 1 and known and own[at] % known == 0:
            wanted[wanted.index(-1)] = own[at] // known
            known = own[at]
        if -1 in wanted or known != own[at]:
            raise UserError(
                f"unflatten: the sizes {list(sizes)} do not fit dimension {at} of size {own[at]}."
            )
        return self.reshape((*own[:at], *wanted, *own[at + 1 :]))

    def unsqueeze(self, dim: int) -> Any:
        """The tensor with a further dimension of size 1."""
        at = dimension_of("unsqueeze", dim, self.ndim + 1)
        return self._along(at, None)

    def squeeze(self, dim: int | Sequence[int] | None = None) -> Any:
        """The tensor without its dimensions of size 1, or without those of them that are given."""
        sizes = self._pattern.shape
        if dim is None:
            given = list(range(self.ndim))
        else:
            dims = [dim] if isinstance(dim, int) else dim
            given = [dimension_of("squeeze", d, self.ndim) for d in dims]
        index = [0 if d in given and size == 1 else slice(None) for d, size in enumerate(sizes)]
        return self[tuple(index)] if 0 in index else self

    def expand(self, *sizes: Any, size: Any = None) -> Any:
        """Dimensions of size 1 repeated to these sizes, with further dimensions at the front; -1
        keeps a size. Entries are copied."""
        wanted = flat_dimensions(sizes, size)
        new = len(wanted) - self.ndim
        own = (*[1] * new, *self._pattern.shape)
        is_valid = new >= 0 and all(
            one == size or one == 1 or (size == -1 and d >= new)
            for d, (one, size) in enumerate(zip(own, wanted, strict=True))
        )
        if not is_valid or any(size < 0 for size in wanted[:new]):
            raise UserError(
                f"expand: a tensor of the shape {list(self.shape)} does not expand to "
                f"{list(wanted)}; only dimensions of size 1 do."
            )
        counts = [
            size if one == 1 and size != -1 else 1 for one, size in zip(own, wanted, strict=True)
        ]
        return self._tiled(counts)

    def expand_as(self, other: Any) -> Any:
        """`expand` to the shape of another tensor."""
        return self.expand(*other.shape)

    broadcast_to = expand

    def repeat(self, *counts: Any, repeats: Any = None) -> Any:
        """The tensor that many times along each dimension. Further counts at the front are those of
        new dimensions."""
        wanted = flat_dimensions(counts, repeats)
        if len(wanted) < self.ndim or any(count < 0 for count in wanted):
            raise UserError(
                f"repeat: expected a count for each of {self.ndim} dimensions, but found "
                f"{list(wanted)}."
            )
        return self._tiled(wanted)

    def tile(self, *counts: Any, dims: Any = None) -> Any:
        """As `repeat`; missing counts at the front are 1."""
        wanted = flat_dimensions(counts, dims)
        return self.repeat(*[1] * (self.ndim - len(wanted)), *wanted)

    def _tiled(self, counts: Sequence[int]) -> Any:
        if len(counts) == self.ndim and all(count == 1 for count in counts):
            return self
        return operations.installed.restructure("tile", self, tuple(counts))

    # ---- the order of dimensions ---------------------------------------------------------------

    def swapaxes(self, axis0: int, axis1: int) -> Any:
        """As `transpose`."""
        first = dimension_of("swapaxes", axis0, self.ndim)
        return self.transpose(first, dimension_of("swapaxes", axis1, self.ndim))

    swapdims = swapaxes

    @property
    def mT(self) -> Any:
        """The same storage with the last two dimensions exchanged."""
        if self.ndim < 2:
            raise UserError(f"mT: expected a matrix or matrices, but found rank {self.ndim}.")
        return self.transpose(-2, -1)

    mH = mT
    H = mT

    def adjoint(self) -> Any:
        """As `mT`: values are real."""
        return self.mT

    def movedim(self, source: Any, destination: Any) -> Any:
        """The same storage with dimensions moved to other places; the others keep their order."""
        sources = [source] if isinstance(source, int) else list(source)
        targets = [destination] if isinstance(destination, int) else list(destination)
        rank = self.ndim
        moved = [dimension_of("movedim", d, rank) for d in sources]
        places = [dimension_of("movedim", d, rank) for d in targets]
        if len(moved) != len(places) or len(set(moved)) + len(set(places)) != 2 * len(moved):
            raise UserError(
                f"movedim: {source} and {destination} must name equally many dimensions, each once."
            )
        rest = [d for d in range(rank) if d not in moved]
        order = [moved[places.index(at)] if at in places else rest.pop(0) for at in range(rank)]
        return self.permute(*order)

    moveaxis = movedim

    def flip(self, *along: Any, dims: Any = None) -> Any:
        """The tensor in reverse order along these dimensions."""
        wanted = flat_dimensions(along, dims)
        given = [dimension_of("flip", d, self.ndim) for d in wanted]
        if len(set(given)) != len(given):
            raise UserError(f"flip: {list(wanted)} names a dimension twice.")
        return operations.installed.restructure("flip", self, tuple(given))

    def fliplr(self) -> Any:
        """The tensor in reverse order along dimension 1."""
        return self.flip(1)

    def flipud(self) -> Any:
        """The tensor in reverse order along dimension 0."""
        return self.flip(0)

    def rot90(self, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
        """The tensor rotated k times by 90 degrees, from the first dimension to the second."""
        first, second = (dimension_of("rot90", d, self.ndim) for d in dims)
        if k % 4 == 2:
            return self.flip(first, second)
        if k % 4 == 0:
            return self
        return self.flip(second if k % 4 == 1 else first).transpose(first, second)

    def roll(self, shifts: Any, dims: Any = None) -> Any:
        """The tensor with its elements shifted along dimensions, around the end. Without `dims` all
        elements are shifted in row-major order."""
        by = [shifts] if isinstance(shifts, int) else list(shifts)
        if not all(isinstance(shift, int | torch.SymInt) for shift in by):
            raise UserError(f"roll: a shift must be an integer, but found {shifts!r}.")
        if dims is None:
            if len(by) != 1:
                raise UserError("roll: expected one shift, or dims= with a dimension for each.")
            return operations.installed.restructure("roll", self, tuple(by), None)
        given = [dims] if isinstance(dims, int) else list(dims)
        if len(by) != len(given):
            raise UserError(f"roll: {len(by)} shifts do not fit {len(given)} dimensions.")
        along = [dimension_of("roll", d, self.ndim) for d in given]
        return operations.installed.restructure("roll", self, tuple(by), tuple(along))

    # ---- diagonals -----------------------------------------------------------------------------

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
        """The elements on a diagonal of two dimensions, as the last dimension."""
        return operations.installed.restructure("diagonal", self, offset, dim1, dim2)

    def diag(self, diagonal: int = 0) -> Any:
        """A diagonal of a matrix, or the matrix that has a vector on a diagonal."""
        if self.ndim > 2:
            raise UserError(f"diag: expected a vector or a matrix, but found rank {self.ndim}.")
        return self.diag_embed(diagonal) if self.ndim == 1 else self.diagonal(diagonal)

    def diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
        """Matrices that have the last dimension on a diagonal. They are the dimensions `dim1` and
        `dim2` of the result."""
        matrices = operations.installed.restructure("diag_embed", self, offset)
        at_end = (matrices.ndim - 2, matrices.ndim - 1)
        if (dim1 % matrices.ndim, dim2 % matrices.ndim) == at_end:
            return matrices
        return matrices.movedim((-2, -1), (dim1, dim2))

    def tril(self, diagonal: int = 0) -> Any:
        """The elements on a diagonal of the last two dimensions and below it."""
        return operations.installed.restructure("triangle", self, diagonal, True)

    def triu(self, diagonal: int = 0) -> Any:
        """The elements on a diagonal of the last two dimensions and above it."""
        return operations.installed.restructure("triangle", self, diagonal, False)

    def trace(self) -> Tensor:
        """The sum of the diagonal of a matrix."""
        total: Tensor = operations.installed.restructure("trace", self)
        return total

    def kron(self, other: Any) -> Any:
        """The Kronecker product with a sparse tensor."""
        return operations.installed.restructure("kron", self, other)
