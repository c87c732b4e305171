"""The arguments of the library's operators: numbers and tensors, collected from operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from tulle.programs.program import Operand
from tulle.tensors.sparse_tensor import SparseTensor


class Arguments(NamedTuple):
    """The operands of a call as the operators take them."""

    # The sizes of the sparse operands, then the complements (~) of the numbers of their structures,
    # which no size equals.
    numbers: tuple[int, ...]
    tensors: list[Tensor]  # the values of all operands: the library holds the structure arrays


def flatten(operands: Sequence[Operand]) -> Arguments:
    """The arguments of operands that `operand_checks` has checked."""
    tensors = [one._values if isinstance(one, SparseTensor) else one for one in operands]
    return Arguments(numbers_of(operands), tensors)


def numbers_of(operands: Sequence[Operand]) -> tuple[int, ...]:
    """The sizes and structures of the operands, as numbers. They do not depend on values."""
    patterns = [operand._pattern for operand in operands if isinstance(operand, SparseTensor)]
    return sizes_of(operands) + tuple(~pattern.hold() for pattern in patterns)


def with_arrays(operands: Sequence[Operand]) -> list[Tensor]:
    """The structure arrays and values of all operands."""
    tensors: list[Tensor] = []
    for operand in operands:
        if isinstance(operand, SparseTensor):
            tensors += operand._pattern.arrays
        tensors.append(operand._values if isinstance(operand, SparseTensor) else operand)
    return tensors


def sizes_of(operands: Sequence[Operand]) -> tuple[int, ...]:
    """The sizes of the sparse operands."""
    sizes: tuple[int, ...] = ()
    for operand in operands:
        if isinstance(operand, SparseTensor):
            sizes += operand._pattern.numbers
    return sizes
