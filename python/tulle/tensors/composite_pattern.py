"""The pattern of a tensor in several parts, each with a format of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tulle.support.errors import UserError
from tulle.tensors.formats import Format
from tulle.tensors.held_structure import write
from tulle.tensors.pattern import Pattern

# The values of a part start at a multiple of this number, which aligns them for every type.
_ALIGNMENT = 64


class CompositePattern(Pattern):
    """The patterns of the parts. Its arrays are the arrays of the parts, one part after the other;
    part n has `counts[n]` values from `offsets[n]` on in the vector of values."""

    __slots__ = ("counts", "offsets", "parts")
    counts: tuple[int, ...]
    offsets: tuple[int, ...]
    parts: tuple[Pattern, ...]

    def __init__(
        self,
        format: Format,
        shape: tuple[int, ...],
        parts: Sequence[Pattern],
        counts: Sequence[int],
    ) -> None:
        arrays = tuple(array for part in parts for array in part.arrays)
        for part in parts:
            part._notice_other_memory()
        super().__init__(format, shape, arrays, parts[0].index_dtype)
        if all(part.is_checked for part in parts):
            self._mark_checked()
        if self.counted:
            write(self, "version", sum(part.version for part in parts))
        write(self, "parts", tuple(parts))
        write(self, "counts", tuple(counts))
        write(self, "offsets", _offsets(counts))

    def __getattr__(self, name: str) -> Any:
        # Of a pattern from a graph, which sets `counts` beside the attributes of `in_graph`.
        if name not in ("parts", "offsets"):
            return super().__getattr__(name)
        numbers = self.shape + self.counts
        whole = reassembled(self._format_text, numbers, self.index_dtype, self.arrays)
        write(self, "parts", whole.parts)
        write(self, "offsets", whole.offsets)
        return getattr(self, name)

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.shape + self.counts

    def with_arrays(self, arrays: Sequence[Tensor], index_dtype: torch.dtype) -> CompositePattern:
        parts = []
        for part in self.parts:
            parts.append(part.with_arrays(arrays[: len(part.arrays)], index_dtype))
            arrays = arrays[len(part.arrays) :]
        return CompositePattern(self.format, self.shape, parts, self.counts)

    def _with_order(self, order: tuple[int, ...]) -> CompositePattern:
        parts = [part.permuted(order) for part in self.parts]
        return CompositePattern(self.format.permuted(order), parts[0].shape, parts, self.counts)

    def parts_of(self, values: Tensor) -> list[tuple[Pattern, Tensor]]:
        return [
            (part, values[offset : offset + count])
            for part, offset, count in zip(self.parts, self.offsets, self.counts, strict=True)
        ]

    @property
    def has_padding(self) -> bool:
        return True  # between the parts

    def coordinates_at(self, places: Tensor) -> tuple[Tensor, Tensor]:
        self.ensure_checked()
        rank, number = len(self.shape), places.numel()
        result = torch.zeros(rank, number, dtype=torch.int64, device=places.device)
        held = torch.zeros(number, dtype=torch.bool, device=places.device)
        for part, offset, count in zip(self.parts, self.offsets, self.counts, strict=True):
            here = ((places >= offset) & (places < offset + count)).nonzero()[:, 0]
            result[:, here], held[here] = part.coordinates_at(places[here] - offset)
        return result, held

    def count_slots(self) -> int:
        return self.offsets[-1] + self.counts[-1]

    def count_entries(self, stored: int) -> int:
        if self.entry_count is None:
            self.ensure_checked()
            counts = zip(self.parts, self.counts, strict=True)
            found = sum(part.count_entries(count) for part, count in counts)
            write(self, "entry_count", found)
            return found
        return self.entry_count

    def validate(self, name: str, values: Tensor) -> None:
        if values.numel() != self.count_slots():
            raise UserError(
                f"{name}: the parts have {self.count_slots()} values with the gaps between them, "
                f"but {values.numel()} were given."
            )
        for at, (part, own) in enumerate(self.parts_of(values)):
            part.validate(f"{name}, part {at}", own)
        self._mark_checked()


class _OpenPattern(CompositePattern):
    """A pattern while its attributes are set."""

    __slots__ = ()
    __setattr__ = object.__setattr__  # type: ignore[assignment]
    __delattr__ = object.__delattr__


CompositePattern._closed = CompositePattern
CompositePattern._open = _OpenPattern


def pattern_in_graph(
    format_text: str,
    shape: tuple[int, ...],
    arrays: tuple[Tensor, ...],
    index_dtype: torch.dtype,
    counts: tuple[int, ...],
) -> Pattern:
    """The pattern inside a graph (`Pattern.in_graph`). `counts` are the sizes of the parts of a
    composite one."""
    if not counts:
        return Pattern.in_graph(format_text, shape, arrays, index_dtype)
    pattern = CompositePattern.in_graph(format_text, shape, arrays, index_dtype)
    pattern.counts = counts
    return pattern


def _offsets(counts: Sequence[int]) -> tuple[int, ...]:
    offsets, next_offset = [], 0
    for count in counts:
        offsets.append(next_offset)
        next_offset += -(-count // _ALIGNMENT) * _ALIGNMENT
    return tuple(offsets)


def composed(
    format: Format, shape: tuple[int, ...], parts: Sequence[tuple[Pattern, Tensor]]
) -> tuple[CompositePattern, Tensor]:
    """The pattern of these parts, and one vector into which their values are copied."""
    counts = [values.numel() for _, values in parts]
    pattern = CompositePattern(format, shape, [part for part, _ in parts], counts)
    ends = (*pattern.offsets[1:], pattern.count_slots())
    pieces: list[Tensor] = []
    for (_, own), offset, end in zip(parts, pattern.offsets, ends, strict=True):
        pieces += [own, own.new_zeros(end - offset - own.numel())]
    return pattern, torch.cat(pieces)


def joined(pattern: Pattern, pieces: Sequence[Tensor]) -> Tensor:
    """The values of a tensor with this composite pattern, from the values of its parts. Autograd
    follows the pieces."""
    assert isinstance(pattern, CompositePattern)
    found: list[Tensor] = []
    filled = 0
    for offset, count, piece in zip(pattern.offsets, pattern.counts, pieces, strict=True):
        found += [piece.new_zeros(offset - filled), piece]
        filled = offset + count
    return torch.cat(found)


def taken_apart(
    format: str, numbers: tuple[int, ...]
) -> tuple[Format, tuple[int, ...], tuple[int, ...]]:
    """The format, the shape and the counts that the `numbers` of a composite pattern hold."""
    rank = len(numbers) - len(Format(format, 2).parts)
    return Format(format, rank), numbers[:rank], numbers[rank:]


def reassembled(
    format: str,
    numbers: tuple[int, ...],
    index_dtype: torch.dtype,
    arrays: Sequence[Tensor],
    *,
    is_checked: bool = False,
) -> CompositePattern:
    """The pattern with these `numbers` and these arrays, which a pattern was taken apart into."""
    known, shape, counts = taken_apart(format, numbers)
    expected = sum(len(level.arrays) for part in known.parts for level in part.format.levels)
    if len(arrays) != expected or min(numbers) < 0:
        raise UserError(
            f"The format {known} has {expected} structure arrays and sizes from 0 on, but "
            f"{len(arrays)} arrays and the sizes {list(numbers)} were given."
        )
    parts = []
    for part in known.parts:
        size = sum(len(level.arrays) for level in part.format.levels)
        own = tuple(arrays[:size])
        make = Pattern._of_valid if is_checked else Pattern
        parts.append(make(part.format, shape, own, index_dtype))
        arrays = arrays[size:]
    return CompositePattern(known, shape, parts, counts)
