"""What a matrix's pattern looks like, and which formats suit that."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor

SAMPLE = 1 << 20  # entries that are looked at for diagonals and blocks
BLOCKS = (2, 4, 8, 16)
BANDS = (1, 2, 4, 8, 16)
DENSE_BLOCK = 0.6  # the fill from which on a block is clearly worth being one
WORTH_A_PART = 0.3  # of all entries
# Formats are left out if they would store more than so many values for an entry.
MOST_PADDING = 2.5


@dataclass(frozen=True)
class Statistics:
    """Of a matrix. `padding` is how many values a format would store for each entry."""

    shape: tuple[int, int]
    nnz: int
    mean_row: float  # entries of a row
    longest_row: int
    empty_rows: float  # share
    diagonals: int  # that hold an entry
    bandwidth: int  # the largest distance of an entry from the diagonal
    block_fill: dict[int, float] = field(default_factory=dict)  # of blocks b x b with an entry
    in_dense_blocks: dict[int, float] = field(default_factory=dict)  # share of the entries
    in_band: dict[int, float] = field(default_factory=dict)  # share up to b from the diagonal

    @property
    def density(self) -> float:
        return self.nnz / max(1, math.prod(self.shape))

    def __str__(self) -> str:
        fill = ", ".join(f"{b}x{b} {share:.0%}" for b, share in self.block_fill.items())
        return "\n".join(
            [
                f"{self.shape[0]} x {self.shape[1]}, {self.nnz} entries ({self.density:.2g})",
                f"rows: {self.mean_row:.1f} entries on average, {self.longest_row} at most, "
                f"{self.empty_rows:.0%} empty",
                f"{self.diagonals} diagonals, bandwidth {self.bandwidth}",
                f"fill of blocks: {fill}",
            ]
        )


def statistics_of(tensor: SparseTensor) -> Statistics:
    """Computed once for a pattern, on a sample of the rows where it is large."""
    known = tensor.pattern.derived.get("statistics")
    if isinstance(known, Statistics):
        return known
    if tensor.ndim != 2:
        raise UserError(f"statistics: expected a matrix, but found rank {tensor.ndim}.")
    rows, columns = tensor.coordinates()
    found = _statistics(rows, columns, (tensor.shape[0], tensor.shape[1]))
    tensor.pattern.derived["statistics"] = found
    return found


def _statistics(rows: Tensor, columns: Tensor, shape: tuple[int, int]) -> Statistics:
    nnz = rows.numel()
    lengths = torch.bincount(rows, minlength=shape[0])
    if nnz == 0:
        return Statistics(shape, 0, 0.0, 0, 1.0 if shape[0] else 0.0, 0, 0)
    if nnz > SAMPLE:
        # Whole bands of rows, so that blocks and diagonals stay whole.
        band = 16 * max(1, shape[0] // (16 * 64))
        kept = (rows // band) % max(1, round(nnz / SAMPLE)) == 0
        rows, columns = rows[kept], columns[kept]
    offsets = columns - rows
    fill, dense = {}, {}
    for size in BLOCKS:
        numbers = rows // size * (shape[1] // size + 1) + columns // size
        counts = torch.unique(numbers, return_counts=True)[1]
        fill[size] = rows.numel() / max(1, counts.numel() * size * size)
        is_dense = counts >= DENSE_BLOCK * size * size
        dense[size] = float(counts[is_dense].sum()) / max(1, rows.numel())
    in_band = {b: float((offsets.abs() <= b).double().mean()) for b in BANDS}
    return Statistics(
        shape,
        nnz,
        nnz / max(1, shape[0]),
        int(lengths.max()),
        float((lengths == 0).double().mean()),
        torch.unique(offsets).numel(),
        int(offsets.abs().max()) if offsets.numel() else 0,
        fill,
        dense,
        in_band if offsets.numel() else {},
    )


def suitable_formats(tensor: SparseTensor) -> list[str]:
    """Formats worth trying for a tensor, its own first: those that store little more than its
    entries."""
    own = str(tensor.format)
    if tensor.ndim != 2 or 0 in tensor.shape:
        return [own]
    found = statistics_of(tensor)
    rows, columns = found.shape
    stored = {"csr": 1.0, "csc": 1.0}
    if found.empty_rows > 0.5:
        stored["dcsr"] = 1.0
    if found.nnz:
        stored[f"ell({found.longest_row})"] = rows * found.longest_row / found.nnz
        stored["dia"] = found.diagonals * rows / found.nnz
        stored["dense"] = rows * columns / found.nnz
    for size, fill in found.block_fill.items():
        stored[f"bsr({size},{size})"] = 1 / max(fill, 1e-9)
    # Rows by length, long ones cut: for lengths that differ, which one width does not serve.
    if found.nnz and found.longest_row > 2 * found.mean_row:
        width = max(0, round(math.log2(max(1.0, found.mean_row))))
        stored[f"hyb(1,{width})"] = 1.5
    kept = [name for name, padding in stored.items() if padding <= MOST_PADDING]
    kept += _in_parts(found)
    return list(dict.fromkeys([own, *(name for name in kept if _exists(name))]))


def _in_parts(found: Statistics) -> list[str]:
    """What is dense enough in a part of its own, the rest as CSR: the narrowest band and the
    largest blocks that hold much of the matrix, and not nearly all."""
    much = [b for b, share in found.in_band.items() if WORTH_A_PART <= share < 0.95]
    slots = [b for b in much if (2 * b + 1) * found.shape[0] <= 2 * found.in_band[b] * found.nnz]
    names = [f"dia-csr({-b},{b})" for b in slots[:1]]
    blocks = [b for b, share in found.in_dense_blocks.items() if WORTH_A_PART <= share < 0.95]
    return names + [f"bsr-csr({b},{b})" for b in blocks[-1:] if b >= 4]


def _exists(name: str) -> bool:
    try:
        Format(name, 2)
    except UserError:
        return False
    return True
