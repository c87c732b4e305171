"""What the library's operators take: numbers and tensors, collected from operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor, is_grad_enabled
from torch.autograd import forward_ad
from torch.compiler import is_compiling
from torch.nn import Parameter

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


def flatten_plain(operands: Sequence[Operand]) -> Arguments | None:
    """As `flatten`, for operands without checks; None unless all of them are plain. Plain operands
    are on one device, require no gradient, have an unchanged structure and are not of a subclass
    that overrides PyTorch's functions. Under torch.compile none are, since its tracing
    cannot compare the versions of arrays."""
    if is_compiling() or forward_ad._current_level >= 0:
        return None
    with_gradients = is_grad_enabled()
    sizes: tuple[int, ...] = ()
    structures: tuple[int, ...] = ()
    tensors: list[Tensor] = []
    is_cuda: bool | None = None
    for operand in operands:
        if type(operand) is SparseTensor:
            pattern = operand._pattern
            if pattern.version is not None:
                version = pattern.version
                for array in pattern.arrays:
                    version -= array._version
                if version:
                    return None
            sizes += pattern.numbers
            structures += (~pattern.structure,)
            tensors += pattern.arrays
            values = operand._values
        else:
            values = operand
        if type(values) is not Tensor and type(values) is not Parameter:
            return None
        if with_gradients and values.requires_grad:
            return None
        if values.is_cuda is not is_cuda:
            if is_cuda is not None:
                return None
            is_cuda = values.is_cuda
        tensors.append(values)
    return Arguments(_with_structures(sizes, structures), tensors)


def _with_structures(sizes: tuple[int, ...], structures: tuple[int, ...]) -> tuple[int, ...]:
    for structure in structures:
        if structure != -1:
            return sizes + structures
    return sizes
