"""The formats that suit the pattern of a tensor."""

from __future__ import annotations

import math

from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor
from tulle.tensors.statistics import Statistics

MOST_PADDING = 2.5  # stored values for each entry; a format that stores more is left out
WORTH_A_PART = 0.3  # the share of all entries from which they may get a part of their own


def suitable_formats(tensor: SparseTensor) -> list[str]:
    """The formats worth trying for a tensor, its own first. The others store few values beside the
    entries."""
    own = str(tensor.format)
    if tensor.ndim != 2 or 0 in tensor.shape:
        return [own]
    found = tensor.statistics()
    padded = [name for name, padding in _padding(found).items() if padding <= MOST_PADDING]
    names = [*padded, *_composites(found)]
    return list(dict.fromkeys([own, *(name for name in names if _exists(name))]))


def _padding(found: Statistics) -> dict[str, float]:
    """The number of values that each format would store for an entry."""
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
    # Rows grouped by length, long ones cut: for row lengths that no single width suits.
    if found.nnz and found.longest_row > 2 * found.mean_row:
        width = max(0, round(math.log2(max(1.0, found.mean_row))))
        stored[f"hyb(1,{width})"] = 1.5
    return stored


def _composites(found: Statistics) -> list[str]:
    """Formats with a dense part and the rest as CSR: the narrowest band and the largest blocks that
    hold many of the entries, but not nearly all."""
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
