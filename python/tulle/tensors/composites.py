"""Tensors in several parts, each in a format of its own: their patterns, and how they are built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from tulle.library import bindings
from tulle.support.errors import translated
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor

# The values of a part begin at a multiple of so many, so that they are aligned for any type.
_STEP = 64


class CompositePattern(Pattern):
    """The patterns of the parts. Its arrays are theirs, one part after the other; in the vector of
    values each part has `counts` values from its place in `offsets` on."""

    __slots__ = ("counts", "offsets", "parts")

    def __init__(
        self,
        format: Format,
        shape: tuple[int, ...],
        parts: Sequence[Pattern],
        counts: Sequence[int],
    ) -> None:
        arrays = tuple(array for part in parts for array in part.arrays)
        super().__init__(format, shape, arrays, parts[0].index_dtype)
        self.parts = tuple(parts)
        self.counts = tuple(counts)
        self.offsets = _offsets(counts)

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.shape + self.counts

    def with_arrays(self, arrays: Sequence[Tensor], index_dtype: torch.dtype) -> CompositePattern:
        parts = []
        for part in self.parts:
            parts.append(part.with_arrays(arrays[: len(part.arrays)], index_dtype))
            arrays = arrays[len(part.arrays) :]
        return CompositePattern(self.format, self.shape, parts, self.counts)

    def permuted(self, order: tuple[int, ...]) -> CompositePattern:
        parts = [part.permuted(order) for part in self.parts]
        return CompositePattern(self.format.permuted(order), parts[0].shape, parts, self.counts)

    def validate(self, name: str, values: Tensor) -> None:
        for at, (part, own) in enumerate(zip(self.parts, self.values_of(values), strict=True)):
            part.validate(f"{name}, part {at}", own)

    def values_of(self, values: Tensor) -> list[Tensor]:
        """The values of each part, in the same memory."""
        return [
            values[offset : offset + count]
            for offset, count in zip(self.offsets, self.counts, strict=True)
        ]


def _offsets(counts: Sequence[int]) -> tuple[int, ...]:
    offsets, next_offset = [], 0
    for count in counts:
        offsets.append(next_offset)
        next_offset += -(-count // _STEP) * _STEP
    return tuple(offsets)


def composed(format: Format, shape: tuple[int, ...], parts: Sequence[SparseTensor]) -> SparseTensor:
    """The tensor of these parts, whose values are copied into one vector."""
    counts = [part.values().numel() for part in parts]
    pattern = CompositePattern(format, shape, [part.pattern for part in parts], counts)
    size = pattern.offsets[-1] + counts[-1]
    values = torch.zeros(size, dtype=parts[0].dtype, device=parts[0].device)
    for part, place in zip(parts, pattern.values_of(values), strict=True):
        place.copy_(part.values())
    return SparseTensor(pattern, values)


def built(source: SparseTensor, format: Format) -> SparseTensor:
    """The tensor in a composite format, on the same device. Its entries are sorted and given out to
    the parts, and each part is converted as any tensor is."""
    entries = source.to(format=Format(format.sorted_entries, source.ndim))
    pattern, values = entries.pattern, entries.values()
    spec = pattern.spec(values.dtype)
    try:
        order, counts = bindings.select_parts(
            str(format), spec, pattern.sizes, [*pattern.arrays, values]
        )
    except RuntimeError as error:
        raise translated(error) from None
    parts = []
    for wanted, chosen in zip(format.parts, order.split(counts.tolist()), strict=True):
        pos = torch.tensor([0, chosen.numel()], dtype=pattern.index_dtype, device=source.device)
        arrays = (pos, *(crd[chosen] for crd in pattern.arrays[1:]))
        part = SparseTensor(pattern.with_arrays(arrays, pattern.index_dtype), values[chosen])
        parts.append(part.to(format=wanted.format))
    return composed(format, pattern.shape, parts)


def parts_of(source: SparseTensor) -> list[SparseTensor]:
    """The parts as tensors of their own, which share memory with the whole."""
    pattern = source.pattern
    if not isinstance(pattern, CompositePattern):
        return [source]
    values = pattern.values_of(source.values())
    return [SparseTensor(part, own) for part, own in zip(pattern.parts, values, strict=True)]


def restored(format: str, shape: tuple[int, ...], parts: Sequence[SparseTensor]) -> SparseTensor:
    """What was pickled; the parts have been checked."""
    return composed(Format(format, len(shape)), shape, parts)


def reassembled(
    format: str, numbers: tuple[int, ...], index_dtype: torch.dtype, arrays: Sequence[Tensor]
) -> CompositePattern:
    """The pattern of arrays that were taken from one; `numbers` are its own."""
    rank = len(numbers) - len(Format(format, 2).parts)
    known = Format(format, rank)
    shape, counts = numbers[:rank], numbers[rank:]
    parts = []
    for part in known.parts:
        size = sum(len(level.arrays) for level in part.format.levels)
        parts.append(Pattern(part.format, shape, tuple(arrays[:size]), index_dtype))
        arrays = arrays[size:]
    return CompositePattern(known, shape, parts, counts)


class Share(NamedTuple):
    """How much of a tensor a part has."""

    selector: str
    format: Format
    entries: int
    rows: int  # rows with an entry in the part
    stored: int  # values, padding and unused slots included


def shares_of(source: SparseTensor) -> Iterator[Share]:
    """For each part what it has of the rows and of the entries."""
    for part, chosen in zip(parts_of(source), source.format.parts, strict=True):
        rows = torch.unique(part.coordinates()[:-1], dim=1).shape[1] if part.nnz else 0
        yield Share(chosen.selector, chosen.format, part.nnz, rows, part.values().numel())


def share_text(name: str, source: SparseTensor) -> str:
    """The parts of a tensor in lines, for explain."""
    shares = list(shares_of(source))
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
