"""What the library's operators take: numbers and tensors, collected from operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from tulle.programs.program import Operand
from tulle.tensors.sparse_tensor import SparseTensor


class Arguments(NamedTuple):
    """The operands of a call as the operators take them."""

    # The sizes of the sparse operands and, on a GPU, the complements (~) of the numbers of their
    # structures, which no size equals.
    numbers: tuple[int, ...]
    tensors: list[Tensor]  # the arrays and values of all operands


def flatten(operands: Sequence[Operand]) -> Arguments:
    """The arguments of operands that `operand_checks` has checked."""
    sizes: tuple[int, ...] = ()
    structures: tuple[int, ...] = ()
    tensors: list[Tensor] = []
    for operand in operands:
        if isinstance(operand, SparseTensor):
            pattern = operand._pattern
            sizes += pattern.numbers
            structures += (~pattern.structure,)
            tensors += pattern.arrays
            tensors.append(operand._values)
        else:
            tensors.append(operand)
    return Arguments(_with_structures(sizes, structures), tensors)


def _with_structures(sizes: tuple[int, ...], structures: tuple[int, ...]) -> tuple[int, ...]:
    for structure in structures:
        if structure != -1:
            return sizes + structures
    return sizes
