"""Sparse tensors of structure from outside: checked, and sorted if necessary."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from tulle.tensors.checked_pattern import checked_pattern, unchecked_pattern
from tulle.tensors.formats import Format
from tulle.tensors.sparse_tensor import SparseTensor


def checked(
    name: str, format: Format, shape: tuple[int, ...], arrays: Sequence[Tensor], values: Tensor
) -> SparseTensor:
    """The tensor of these arrays. Raises UserError if its structure is invalid. Arrays that are
    slices, expanded or strided are copied."""
    arrays, values = _contiguous(arrays), values.contiguous()
    return SparseTensor(checked_pattern(name, format, shape, arrays, values), values)


def _contiguous(arrays: Sequence[Tensor]) -> list[Tensor]:
    return [array.contiguous() for array in arrays]


def in_order(
    name: str,
    formats: tuple[Format, Format],
    shape: tuple[int, ...],
    arrays: Sequence[Tensor],
    values: Tensor,
) -> SparseTensor:
    """The tensor in the first of two formats that differ in the order that they require. Arrays
    that are not in the order of the first are read as the second, then sorted; duplicates are
    summed."""
    arrays, values = _contiguous(arrays), values.contiguous()
    ordered, loose = formats
    pattern = unchecked_pattern(ordered, shape, arrays, values)
    if pattern.is_in_order(name, values):
        return SparseTensor(pattern, values)
    return checked(name, loose, shape, arrays, values).to(format=ordered)


def compressed_format(
    batches: int, by_rows: bool, block: tuple[int, ...] | None, dense: int
) -> Format:
    """The format with batch dimensions, compressed rows or columns, blocks, dense dimensions."""
    above = [f"b{n}" for n in range(batches)]
    below = [f"d{n}" for n in range(dense)]
    outer, inner = ("i", "j") if by_rows else ("j", "i")
    middle = [f"{outer}: dense", f"{inner}: compressed"]
    if block is not None:
        size = {"i": block[0], "j": block[1]}
        middle = [
            f"{outer}/{size[outer]}: dense",
            f"{inner}/{size[inner]}: compressed",
            f"i%{size['i']}: dense",
            f"j%{size['j']}: dense",
        ]
    levels = [*(f"{b}: dense" for b in above), *middle, *(f"{d}: dense" for d in below)]
    return Format(f"({','.join([*above, 'i', 'j', *below])}) -> ({', '.join(levels)})")


def from_coordinates(
    shape: tuple[int, ...], arrays: list[Tensor], values: Tensor, dense: int = 0
) -> SparseTensor:
    """The COO tensor of positions and the coordinates of each sparse dimension, followed by `dense`
    dense dimensions. Unsorted coordinates are sorted, and duplicates summed."""
    names = [f"i{n}" for n in range(len(shape))]
    sparse = names[: len(shape) - dense]
    below = "".join(f", {name}: dense" for name in names[len(sparse) :])

    def format(first: str, others: str, last: str) -> Format:
        properties = [first, *([others] * (len(sparse) - 2)), last][-len(sparse) :]
        kinds = ["compressed"] + ["singleton"] * (len(sparse) - 1)
        levels = [
            f"{n}: {kind} {how}" for n, kind, how in zip(sparse, kinds, properties, strict=True)
        ]
        return Format(f"({','.join(names)}) -> ({', '.join(levels)}{below})")

    ordered = format("nonunique", "nonunique", "unique")
    loose = format(*["nonunique unordered"] * 3)
    return in_order("the COO tensor", (ordered, loose), shape, arrays, values.reshape(-1))
