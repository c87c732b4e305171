"""Sparse operands in the storage order of a result.

The gradient of a product with a CSR matrix, `B[j,k] = sum(i, C[i,k] * A[i,j])`, walks the matrix by
`i` and adds to a row of the result for each entry. With the entries stored by `j`, threads complete
one row of the result after the other, as in the product itself. The structure in that order stays
with the pattern.

Tensors of higher rank whose storage is that of a matrix with a dense block for each entry, such as
`E[i,j,h]` with the heads of an attention, move their blocks. They share the order of the matrix.
"""

from __future__ import annotations

import math
import re
import weakref
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from tulle.programs.graph_calls import is_traced
from tulle.programs.program import Operand, Program, statement_program
from tulle.tensors.formats import Format
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor

# Below it, all rows of a result are in the caches, and the order matters little.
FEWEST_ENTRIES = 1 << 14

_ACCESS = re.compile(r"\b([A-Za-z_]\w*)\[([^\[\]]*)\]")

# The dimensions that the two outer levels of a tensor store.
Outer: TypeAlias = tuple[int, int]


class Reordered:
    """The pattern of a tensor with its entries in another order. It does not refer to the pattern
    that it was made from, which keeps it."""

    def __init__(self, pattern: Pattern, slots: Tensor, block: int = 1) -> None:
        self.pattern = pattern
        self.arrays = pattern.arrays
        self.slots = slots  # of the other pattern, for each slot of this one, in blocks
        self.block = block  # values in a block
        # The last values without a gradient, their version, and their values in this order.
        self._source: weakref.ref[Tensor] | None = None
        self._version = 0
        self._values: Tensor | None = None

    def values_of(self, values: Tensor, *, may_keep: bool = True) -> Tensor:
        """The values in this order. Those of constants are kept until they change."""
        if not may_keep or values.requires_grad or values.is_inference():
            return self._gathered(values)
        is_known = self._source is not None and self._source() is values
        if self._values is None or not is_known or self._version != values._version:
            # Of two large arrays only one is kept at a time.
            self._values = None
            self._values = self._gathered(values)
            self._source, self._version = weakref.ref(values), values._version
        return self._values

    def _gathered(self, values: Tensor) -> Tensor:
        if self.block == 1:
            return values.index_select(0, self.slots)
        return values.reshape(-1, self.block).index_select(0, self.slots).reshape(-1)


class Reordering(NamedTuple):
    """A program that computes the same from some operands in another order."""

    program: Program
    names: tuple[str, ...]
    # For each operand, the number of the original one, and its order if that differs.
    sources: tuple[tuple[int, Reordered | None], ...]

    def operands(self, given: Sequence[Operand], kept: Sequence[bool]) -> list[Operand]:
        """The operands of the program for operands of the original one. `kept` tells which of these
        may be constants, whose values in order are kept."""
        found: list[Operand] = []
        for number, order in self.sources:
            operand = given[number]
            if order is not None:
                assert isinstance(operand, SparseTensor)
                values = order.values_of(operand._values, may_keep=kept[number])
                operand = SparseTensor(order.pattern, values)
            found.append(operand)
        return found


def reordering_of(
    program: Program, names: tuple[str, ...], operands: Sequence[Operand]
) -> Reordering | None:
    """A faster program for these operands; None if there is none. Each statement of the program is
    one line."""
    levels = [
        (name, operand._pattern, _outer_dimensions(operand))
        for name, operand in zip(names, operands, strict=True)
        if isinstance(operand, SparseTensor)
    ]
    if not any(dimensions for _, _, dimensions in levels):
        return None
    if is_traced([_values_of(operand) for operand in operands]):
        return None
    owners: dict[Pattern, str] = {}
    outer = tuple(
        (name, dimensions, owners.setdefault(pattern, name)) for name, pattern, dimensions in levels
    )
    text, moved = _rewritten(program.text, outer)
    orders = {}
    for name, dimensions, _ in outer:
        if name in moved:
            operand = operands[names.index(name)]
            assert isinstance(operand, SparseTensor) and dimensions
            orders[name] = _reordered(operand._pattern, dimensions)
    if not orders or None in orders.values():
        return None
    read = {name for line in text.split("\n") for name, _ in _accesses(line.partition(" = ")[2])}
    sources: dict[str, tuple[int, Reordered | None]] = {}
    for number, name in enumerate(names):
        if name in read or not _is_accessed(program.text, name):
            sources[name] = (number, None)
        if name in orders:
            sources[_moved(name)] = (number, orders[name])
    return Reordering(statement_program(text), tuple(sources), tuple(sources.values()))


def _outer_dimensions(tensor: SparseTensor) -> Outer | None:
    """The dimensions of the two outer levels, below which there are only dense levels. None if the
    tensor keeps its order."""
    pattern = tensor._pattern
    count = tensor._values.numel()
    # Inside a graph the number of entries may be a symbol.
    if len(pattern.shape) < 2 or not isinstance(count, int) or count < FEWEST_ENTRIES:
        return None
    return _outer_of(str(pattern.format), len(pattern.shape))


@lru_cache(maxsize=1024)
def _outer_of(text: str, rank: int) -> Outer | None:
    format = Format(text, rank)
    if format.is_composite or any(level.part != "w" for level in format.levels):
        return None
    if any(not level.endswith(":dense") for level in format.counted_levels[2:]):
        return None
    return format.levels[0].dimension, format.levels[1].dimension


def _values_of(operand: Operand) -> Tensor:
    return operand._values if isinstance(operand, SparseTensor) else operand


def _moved(name: str) -> str:
    return f"{name}_in_order"


def _accesses(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The tensors that the text reads, with their indices."""
    return [
        (name, tuple(index.strip() for index in indices.split(",")))
        for name, indices in _ACCESS.findall(text)
    ]


def _is_accessed(text: str, name: str) -> bool:
    return any(name == found for found, _ in _accesses(text))


# The name of a sparse operand, its two outer levels (None if it keeps its order), and the first
# operand with the same pattern.
Sparse: TypeAlias = tuple[str, Outer | None, str]


@lru_cache(maxsize=1024)
def _rewritten(text: str, sparse: tuple[Sparse, ...]) -> tuple[str, frozenset[str]]:
    """The statements, in which sums over the outermost index of operands with one pattern read them
    under other names, and those operands."""
    known = {one[0]: one for one in sparse}
    assigned: dict[str, tuple[str, ...]] = {}
    lines, moved = [], set()
    for line in text.split("\n"):
        left, equals, right = line.partition(" = ")
        reads = _accesses(right)
        result = _accesses(left)
        found = {known[name] for name, _ in reads if name in known}
        if found and result and _sums_outermost(found, result[0][1], reads, assigned):
            for name, *_ in found:
                right = re.sub(rf"\b{name}\[", f"{_moved(name)}[", right)
                moved.add(name)
        assigned.update(result)
        lines.append(f"{left}{equals}{right}")
    return "\n".join(lines), frozenset(moved)


def _sums_outermost(
    sparse: Set[Sparse],
    result: tuple[str, ...],
    reads: Sequence[tuple[str, tuple[str, ...]]],
    assigned: dict[str, tuple[str, ...]],
) -> bool:
    """Whether a statement sums over the outermost index of the only sparse tensors that it reads,
    which have one pattern and the same indices, and the result has the index of the level below."""
    names = {name for name, _, _ in sparse}
    indices = {found for read, found in reads if read in names}
    if len({owner for _, _, owner in sparse}) != 1 or len(indices) != 1:
        return False
    dimensions = next(iter(sparse))[1]
    if dimensions is None:
        return False
    (own,) = indices
    outer, inner = own[dimensions[0]], own[dimensions[1]]
    if outer == inner or outer in result or inner not in result:
        return False
    # A tensor that was assigned before may be sparse if it has both indices.
    return not any({outer, inner} <= set(assigned[read]) for read, _ in reads if read in assigned)


def _reordered(pattern: Pattern, dimensions: Outer) -> Reordered | None:
    """The pattern with the two outer levels stored by the inner one; None if the conversion adds up
    entries."""
    format = _by_inner(str(pattern.format), dimensions, len(pattern.shape))
    name = f"entries as {format}"
    if name not in pattern.derived:
        convert = _convert if len(pattern.shape) == 2 else _convert_blocks
        pattern.derived[name] = convert(pattern, format)
    found: Reordered | None = pattern.derived[name]
    return found


@lru_cache(maxsize=1024)
def _by_inner(text: str, dimensions: Outer, rank: int) -> Format:
    """The format with the inner of these two dimensions outermost."""
    outer, inner = dimensions
    blocks = Format(text, rank).counted_levels[2:]
    levels = (f"d{inner}:dense", f"d{outer}:compressed", *blocks)
    return _with_levels(range(len(levels)), levels)


def _of_matrix(format: Format, dimensions: Outer) -> Format:
    """The format of the two outer levels."""
    return _with_levels(sorted(dimensions), format.counted_levels[:2])


def _with_levels(dimensions: Sequence[int], levels: Sequence[str]) -> Format:
    named = ",".join(f"d{dimension}" for dimension in dimensions)
    return Format(f"({named}) -> ({', '.join(levels)})", len(dimensions))


@torch.no_grad()
def _convert(pattern: Pattern, format: Format) -> Reordered | None:
    count = pattern.count_slots()
    dtype = torch.int32 if count < 2**31 else torch.int64
    device = pattern.arrays[0].device if pattern.arrays else None
    numbered = SparseTensor(pattern, torch.arange(count, dtype=dtype, device=device))
    converted = numbered.to(format=format)
    if converted._values.numel() != numbered.nnz:
        return None
    return Reordered(converted._pattern, converted._values)


def _convert_blocks(pattern: Pattern, format: Format) -> Reordered | None:
    """The order of the matrix of blocks, which other tensors with this matrix share."""
    dimensions = _outer_of(str(pattern.format), len(pattern.shape))
    assert dimensions
    shape = tuple(pattern.shape[d] for d in sorted(dimensions))
    own = pattern.sharing(_of_matrix(pattern.format, dimensions), shape)
    order = _reordered(own, (0, 1) if dimensions[0] < dimensions[1] else (1, 0))
    if order is None:
        return None
    block = math.prod(size for d, size in enumerate(pattern.shape) if d not in dimensions)
    return Reordered(order.pattern.sharing(format, pattern.shape), order.slots, block)
