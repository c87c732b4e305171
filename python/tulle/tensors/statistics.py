"""Statistics of the pattern of a matrix: row lengths, diagonals, blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

SAMPLE = 1 << 20  # entries that are examined for diagonals and blocks
BLOCKS = (2, 4, 8, 16)
BANDS = (1, 2, 4, 8, 16)
DENSE_BLOCK = 0.6  # the fill from which a block counts as dense


@dataclass(frozen=True)
class Statistics:
    """Statistics of a matrix. Shares are between 0 and 1."""

    shape: tuple[int, int]
    nnz: int
    mean_row: float  # entries in a row
    longest_row: int
    empty_rows: float  # share of the rows
    diagonals: int  # with at least one entry
    bandwidth: int  # the largest distance of an entry from the main diagonal
    block_fill: dict[int, float] = field(default_factory=dict)  # of the b x b blocks with an entry
    in_dense_blocks: dict[int, float] = field(default_factory=dict)  # share of the entries
    in_band: dict[int, float] = field(default_factory=dict)  # share within b of the main diagonal

    @property
    def density(self) -> float:
        """The share of the elements that are stored."""
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


def statistics_of(rows: Tensor, columns: Tensor, shape: tuple[int, int]) -> Statistics:
    """The statistics of the entries at these rows and columns. Diagonals and blocks of a large
    matrix come from a sample of its rows."""
    nnz = rows.numel()
    lengths = torch.bincount(rows, minlength=shape[0])
    if nnz == 0:
        return Statistics(shape, 0, 0.0, 0, 1.0 if shape[0] else 0.0, 0, 0)
    if nnz > SAMPLE:
        # Bands of adjacent rows keep blocks and diagonals whole.
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
