"""Sparse operands in the storage order of a result.

The gradient of a product with a CSR matrix, `B[j,k] = sum(i, C[i,k] * A[i,j])`, walks the matrix by
`i` and adds to a row of the result for each entry. With the entries stored by `j`, threads complete
one row of the result after the other, as in the product itself. The structure in that order stays
with the pattern.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from tulle.programs.graph_calls import is_traced
from tulle.programs.program import Operand, Program, statement_program
from tulle.tensors.pattern import Pattern
from tulle.tensors.sparse_tensor import SparseTensor

# Below it, all rows of a result are in the caches, and the order matters little.
FEWEST_ENTRIES = 1 << 14

_ACCESS = re.compile(r"\b([A-Za-z_]\w*)\[([^\[\]]*)\]")
_BY_DIMENSION = ("csr", "csc")


class Reordered:
    """The pattern of a matrix with its entries in another order. It does not refer to the pattern
    that it was made from, which keeps it."""

    def __init__(self, pattern: Pattern, slots: Tensor) -> None:
        self.pattern = pattern
        self.arrays = pattern.arrays
        self.slots = slots  # of the other pattern, for each slot of this one
        # The last values without a gradient, their version, and their values in this order.
        self._source: weakref.ref[Tensor] | None = None
        self._version = 0
        self._values: Tensor | None = None

    def values_of(self, values: Tensor) -> Tensor:
        """The values in this order. Those of constants are kept until they change."""
        if values.requires_grad or values.is_inference():
            return values.index_select(0, self.slots)
        is_known = self._source is not None and self._source() is values
        if self._values is None or not is_known or self._version != values._version:
            self._values = values.index_select(0, self.slots)
            self._source, self._version = weakref.ref(values), values._version
        return self._values


class Reordering(NamedTuple):
    """A program that computes the same from some operands in another order."""

    program: Program
    names: tuple[str, ...]
    # For each operand, the number of the original one, and its order if that differs.
    sources: tuple[tuple[int, Reordered | None], ...]

    @property
    def orders(self) -> tuple[tuple[int, Reordered], ...]:
        """The operands of the program whose order differs."""
        return tuple((at, order) for at, (_, order) in enumerate(self.sources) if order)

    def operands(self, given: Sequence[Operand]) -> list[Operand]:
        """The operands of the program for operands of the original one."""
        found: list[Operand] = []
        for number, order in self.sources:
            operand = given[number]
            if order is not None:
                assert isinstance(operand, SparseTensor)
                operand = SparseTensor(order.pattern, order.values_of(operand._values))
            found.append(operand)
        return found


def reordering_of(
    program: Program, names: tuple[str, ...], operands: Sequence[Operand]
) -> Reordering | None:
    """A faster program for these operands; None if there is none. Each statement of the program is
    one line."""
    outermost = [
        (name, _outermost_dimension(operand))
        for name, operand in zip(names, operands, strict=True)
        if isinstance(operand, SparseTensor)
    ]
    if all(dimension < 0 for _, dimension in outermost):
        return None
    if is_traced([_values_of(operand) for operand in operands]):
        return None
    text, moved = _rewritten(program.text, tuple(outermost))
    orders = {}
    for name, dimension in outermost:
        if name in moved:
            operand = operands[names.index(name)]
            assert isinstance(operand, SparseTensor)
            orders[name] = _reordered(operand, _BY_DIMENSION[1 - dimension])
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


def _outermost_dimension(tensor: SparseTensor) -> int:
    """The dimension that the storage of a matrix begins with; -1 if the matrix keeps its order."""
    pattern = tensor._pattern
    count = tensor._values.numel()
    # Inside a graph the number of entries may be a symbol.
    if len(pattern.shape) != 2 or not isinstance(count, int) or count < FEWEST_ENTRIES:
        return -1
    if pattern.format.is_composite or any(one.part != "w" for one in pattern.format.levels):
        return -1
    return pattern.format.levels[0].dimension


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


@lru_cache(maxsize=1024)
def _rewritten(text: str, outermost: tuple[tuple[str, int], ...]) -> tuple[str, frozenset[str]]:
    """The statements, in which sums over the outermost index of an operand read it under another
    name, and those operands. A negative dimension stands for an operand that keeps its order."""
    dimensions = dict(outermost)
    assigned: dict[str, tuple[str, ...]] = {}
    lines, moved = [], set()
    for line in text.split("\n"):
        left, equals, right = line.partition(" = ")
        reads = _accesses(right)
        sparse = {name for name, _ in reads if name in dimensions}
        result = _accesses(left)
        if len(sparse) == 1 and result:
            (name,) = sparse
            if _sums_outermost(name, dimensions[name], result[0][1], reads, assigned):
                right = re.sub(rf"\b{name}\[", f"{_moved(name)}[", right)
                moved.add(name)
        assigned.update(result)
        lines.append(f"{left}{equals}{right}")
    return "\n".join(lines), frozenset(moved)


def _sums_outermost(
    name: str,
    dimension: int,
    result: tuple[str, ...],
    reads: Sequence[tuple[str, tuple[str, ...]]],
    assigned: dict[str, tuple[str, ...]],
) -> bool:
    """Whether a statement sums over the outermost index of the only sparse tensor that it reads,
    and the result has the other index."""
    indices = {found for read, found in reads if read == name}
    if dimension < 0 or len(indices) != 1:
        return False
    (own,) = indices
    outer, inner = own[dimension], own[1 - dimension]
    if outer == inner or outer in result or inner not in result:
        return False
    # A tensor that was assigned before may be sparse if it has the indices of the operand.
    return not any(set(own) <= set(assigned[read]) for read, _ in reads if read in assigned)


def _reordered(tensor: SparseTensor, format: str) -> Reordered | None:
    """The pattern in this format; None if the conversion adds up entries."""
    pattern = tensor._pattern
    name = f"entries as {format}"
    if name not in pattern.derived:
        pattern.derived[name] = _convert(tensor, format)
    found: Reordered | None = pattern.derived[name]
    return found


@torch.no_grad()
def _convert(tensor: SparseTensor, format: str) -> Reordered | None:
    values = tensor._values
    dtype = torch.int32 if values.numel() < 2**31 else torch.int64
    numbers = torch.arange(values.numel(), dtype=dtype, device=values.device)
    numbered = SparseTensor(tensor._pattern, numbers)
    converted = numbered.to(format=format)
    if converted._values.numel() != numbered.nnz:
        return None
    return Reordered(converted._pattern, converted._values)
