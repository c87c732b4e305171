"""What the library's operators take: numbers and tensors, collected from operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from tulle.programs.program import Operand
from tulle.tensors.sparse_tensor import SparseTensor


class Arguments(NamedTuple):
    """The operands of a call as the operators take them."""

    # The sizes of the sparse operands, then optionally the complements (~) of the numbers of their
    # structures, which no size equals.
    numbers: tuple[int, ...]
    tensors: list[Tensor]  # the arrays and values of all operands


def flatten(operands: Sequence[Operand]) -> Arguments:
    """The arguments of operands that `operand_checks` has checked."""
    tensors: list[Tensor] = []
    structures: list[int] = []
    for operand in operands:
        if isinstance(operand, SparseTensor):
            structures.append(operand._pattern.structure)
            tensors += operand._pattern.arrays
        tensors.append(operand._values if isinstance(operand, SparseTensor) else operand)
    return Arguments(_sizes(operands) + _complements(structures), tensors)


def repeated_numbers(operands: Sequence[Operand]) -> tuple[int, ...]:
    """The numbers for later calls whose sparse operands have these patterns. Such calls pass only
    the values of their operands: the library holds the structure arrays."""
    patterns = [operand._pattern for operand in operands if isinstance(operand, SparseTensor)]
    return _sizes(operands) + tuple(~pattern.hold() for pattern in patterns)


def _sizes(operands: Sequence[Operand]) -> tuple[int, ...]:
    sizes: tuple[int, ...] = ()
    for operand in operands:
        if isinstance(operand, SparseTensor):
            sizes += operand._pattern.numbers
    return sizes


def _complements(structures: Sequence[int]) -> tuple[int, ...]:
    return tuple(~structure for structure in structures) if any(structures) else ()
