"""How the entries of a composite tensor are distributed among its parts, for explanations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch

from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor


class Share(NamedTuple):
    """What a part of a tensor holds."""

    selector: str
    format: Format
    entries: int
    rows: int  # with an entry in the part
    stored: int  # values, padding and unused slots included


def share_text(name: str, source: SparseTensor) -> str:
    """A line for the tensor and one for each part."""
    shares = list(_shares_of(source))
    entries = max(1, sum(share.entries for share in shares))
    rows = max(1, source.shape[:-1].numel())
    lines = [f"{name}: {source.format}"]
    for share in shares:
        lines.append(
            f"  {share.selector}: {share.format}: {share.entries} entries "
            f"({100 * share.entries / entries:.1f}%) in {share.rows} rows "
            f"({100 * share.rows / rows:.1f}%), {share.stored} values stored"
        )
    return "\n".join(lines) + "\n"


def _shares_of(source: SparseTensor) -> Iterator[Share]:
    for part, chosen in zip(source.parts(), source.format.parts, strict=True):
        rows = torch.unique(part.coordinates()[:-1], dim=1).shape[1] if part.nnz else 0
        yield Share(chosen.selector, chosen.format, part.nnz, rows, part.values().numel())
