"""Torch's accessors of layouts: which layout a sparse tensor has, its arrays under torch's names,
and conversions to the formats that torch has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.compiler import is_compiling

from tulle.support.errors import UserError
from tulle.tensors import operations
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern
from tulle.tensors.stored_tensor import StoredTensor

if TYPE_CHECKING:
    from typing_extensions import Self

_LAYOUTS: dict[str, torch.layout] = {
    "coo": torch.sparse_coo,
    "csr": torch.sparse_csr,
    "csc": torch.sparse_csc,
    "bsr": torch.sparse_bsr,
    "bsc": torch.sparse_bsc,
}
_FORMATS = {layout: name for name, layout in _LAYOUTS.items()}


def torch_kind(pattern: Pattern) -> str:
    """ "csr", "csc", "coo", "bsr" or "bsc" if torch stores tensors with this pattern in the same
    arrays, else "". Torch's blocks divide the shape."""
    kind, shape = _name_of(pattern), pattern.shape
    if kind == "coo":
        return kind
    if kind not in _LAYOUTS or len(shape) != 2:
        return ""
    rows, columns = block_of(pattern)
    return kind if shape[0] % rows == 0 and shape[1] % columns == 0 else ""


def block_of(pattern: Pattern) -> tuple[int, int]:
    """The rows and columns of a block of bsr and bsc; (1, 1) for other formats."""
    _, _, sizes = pattern._format_text.partition("(")
    if _name_of(pattern) not in ("bsr", "bsc"):
        return 1, 1
    rows, columns = sizes.removesuffix(")").split(",")
    return int(rows), int(columns)


def _name_of(pattern: Pattern) -> str:
    # Texts, and not formats, because torch.compile follows them.
    return pattern._format_text.split("(")[0]


class LayoutMethods(StoredTensor):
    """`layout`, `crow_indices`, `to_sparse_csr` and their kind."""

    __slots__ = ()

    @property
    def layout(self) -> torch.layout:
        """The layout of `to_torch()`: torch.sparse_csr for csr, torch.sparse_coo for all formats
        that torch does not have."""
        return _LAYOUTS[torch_kind(self._pattern) or "coo"]

    @property
    def is_sparse(self) -> bool:
        """Whether `layout` is torch.sparse_coo, as in torch."""
        return self.layout == torch.sparse_coo

    @property
    def is_sparse_csr(self) -> bool:
        """Whether `layout` is torch.sparse_csr, as in torch."""
        return self.layout == torch.sparse_csr

    def sparse_dim(self) -> int:
        """The number of dimensions that `dense_dim` does not count."""
        return self.ndim - self.dense_dim()

    def dense_dim(self) -> int:
        """The number of trailing dimensions that dense levels at the end of the storage hold."""
        if self.format.is_composite:
            return 0
        found = 0
        for level in reversed(self.format.levels):
            last = self.ndim - 1 - found
            if not (level.full and level.direct and level.part == "w" and level.dimension == last):
                break
            found += 1
        return found

    # ---- arrays --------------------------------------------------------------------------------

    def crow_indices(self) -> Tensor:
        """The positions of the rows of a csr or bsr matrix. The tensor shares them."""
        return self._array_of("crow_indices", ("csr", "bsr"), 0)

    def col_indices(self) -> Tensor:
        """The columns of the entries or blocks of a csr or bsr matrix. The tensor shares them."""
        return self._array_of("col_indices", ("csr", "bsr"), 1)

    def ccol_indices(self) -> Tensor:
        """The positions of the columns of a csc or bsc matrix. The tensor shares them."""
        return self._array_of("ccol_indices", ("csc", "bsc"), 0)

    def row_indices(self) -> Tensor:
        """The rows of the entries or blocks of a csc or bsc matrix. The tensor shares them."""
        return self._array_of("row_indices", ("csc", "bsc"), 1)

    def _array_of(self, caller: str, kinds: tuple[str, str], at: int) -> Tensor:
        if self.ndim == 2 and _name_of(self._pattern) in kinds:
            return self._pattern.arrays[at]
        instead = f'write A.to(format="{kinds[0]}").{caller}()'
        if self.ndim != 2:
            instead = "levels() has the arrays of every format"
        raise UserError(
            f"{caller}: the tensor has the format {self.format} and rank {self.ndim}, but "
            f"{kinds[0]} and {kinds[1]} matrices have these indices; {instead}."
        )

    def indices(self) -> Tensor:
        """The coordinates of the entries, [rank, nnz], in the order of `values()`. A format with
        slots that hold no entry has more values than coordinates, so it has no indices."""
        if is_compiling():
            has_padding = operations.installed.has_padding(self)
        else:
            has_padding = self._pattern.has_padding
        if has_padding:
            raise UserError(
                f"indices: the format {self.format} may hold values that are no entries, so the "
                "indices would not match values(). A.entries() returns coordinates and values; "
                'A.to(format="coo") has indices.'
            )
        return self.coordinates()

    _indices = indices

    def _nnz(self) -> int:
        """As `to_torch()._nnz()`: the number of blocks of a bsr or bsc matrix, else `nnz`."""
        if torch_kind(self._pattern) in ("bsr", "bsc"):
            return self._pattern.arrays[1].numel()
        return self.nnz

    # ---- conversions ---------------------------------------------------------------------------

    def to_sparse(
        self,
        sparse_dim: int | None = None,
        *,
        layout: torch.layout | None = None,
        blocksize: Any = None,
        dense_dim: int | None = None,
    ) -> Self:
        """The tensor in the format of a layout, by default coo: to_sparse(layout=torch.sparse_csr).
        With `sparse_dim`, the dimensions after that many are dense."""
        kind = "coo" if layout is None else _FORMATS.get(layout)
        if kind is None:
            raise UserError(
                f"to_sparse: {layout} is no sparse layout; write to_sparse(layout=torch.sparse_csr)"
                " for instance, or to_dense()."
            )
        if sparse_dim is not None:
            dense_dim = self.ndim - sparse_dim
        if kind in ("bsr", "bsc"):
            rows, columns = _checked_block(f"to_sparse_{kind}", blocksize)
            kind = f"{kind}({rows},{columns})"
        elif blocksize is not None:
            raise UserError(f"to_sparse: the layout {layout} has no blocks; omit blocksize.")
        if dense_dim:
            return self.to(format=_with_dense(kind, self.ndim, dense_dim))
        return self.to(format=kind)

    def to_sparse_coo(self) -> Self:
        """The tensor in the format coo."""
        return self.to(format="coo")

    def to_sparse_csr(self, dense_dim: int | None = None) -> Self:
        """The tensor in the format csr."""
        return self.to_sparse(layout=torch.sparse_csr, dense_dim=dense_dim)

    def to_sparse_csc(self, dense_dim: int | None = None) -> Self:
        """The tensor in the format csc."""
        return self.to_sparse(layout=torch.sparse_csc, dense_dim=dense_dim)

    def to_sparse_bsr(self, blocksize: Any, dense_dim: int | None = None) -> Self:
        """The tensor in the format bsr(r,c) for the block size (r, c), which need not divide the
        shape."""
        return self.to_sparse(layout=torch.sparse_bsr, blocksize=blocksize, dense_dim=dense_dim)

    def to_sparse_bsc(self, blocksize: Any, dense_dim: int | None = None) -> Self:
        """The tensor in the format bsc(r,c) for the block size (r, c)."""
        return self.to_sparse(layout=torch.sparse_bsc, blocksize=blocksize, dense_dim=dense_dim)

    if TYPE_CHECKING:  # `ConversionMethods` has it

        def to(self, *target: Any, **options: Any) -> Any: ...


def _checked_block(caller: str, blocksize: Any) -> tuple[int, int]:
    """The rows and columns of a block."""
    sizes = tuple(blocksize) if isinstance(blocksize, tuple | list) else ()
    if len(sizes) != 2 or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise UserError(
            f"{caller}: expected the rows and columns of a block, as in {caller}((2, 3)), but "
            f"found {blocksize!r}."
        )
    return sizes[0], sizes[1]


def _with_dense(kind: str, rank: int, dense: int) -> Format:
    """The coo, csr or csc format of this rank whose last `dense` dimensions are dense."""
    if not 0 <= dense < rank or kind.startswith("bs"):
        raise UserError(
            f"to_sparse: {dense} dense dimensions do not fit {kind} tensors of rank {rank}; "
            "omit dense_dim."
        )
    names = [f"d{n}" for n in range(rank)]
    form = Format(kind, rank - dense).long_form
    levels = form[form.index("->") + 2 :].strip().removeprefix("(").removesuffix(")")
    own = form[: form.index("->")].strip(" ()").split(",")
    known = dict(zip((name.strip() for name in own), names, strict=False))
    renamed = []
    for level in levels.split(","):
        name, _, how = level.partition(":")
        renamed.append(f"{known[name.strip()]}:{how}")
    renamed += [f"{name}: dense" for name in names[rank - dense :]]
    return Format(f"({','.join(names)}) -> ({', '.join(renamed)})", rank)
